// How results of the search are ordered: a title or heading that is the query comes first, guides before the course and the reference.
var Scorer = {
  objNameMatch: 4,
  objPartialMatch: 2,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const folder = docname.includes("/") ? docname.split("/")[0] : "";
    return (kind === "title" ? 4 * score : score) + ({ "": 2, course: 1, tasks: 1 }[folder] ?? 0);
  },
};
