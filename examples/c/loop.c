/* A 1 kHz control loop in plain C: the arm of arm.h, simulated by MuJoCo, follows a slow wave of all joints.

       loop model.xml seconds numbers.csv

   Everything that the loop needs is allocated before it begins. numbers.csv has a line for every millisecond: when the
   loop woke up after its time [us], how long the controller took [us], the largest error of a joint [rad]. */
#define _POSIX_C_SOURCE 200809L

#include "arm.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 1000000L /* ns */
#define BINS 12

typedef struct {
    double late, took, error;
} Tick;

static double elapsed(const struct timespec *from, const struct timespec *to)
{
    return 1e6 * (double)(to->tv_sec - from->tv_sec) + 1e-3 * (double)(to->tv_nsec - from->tv_nsec);
}

/* Where the joints shall be at time t, and their velocities and accelerations. */
static void reference(double t, double *q, double *v, double *a)
{
    int i;
    for (i = 0; i < ARM_NV; i++) {
        const double size = 0.3, rate = 1.0 + 0.3 * i;
        q[i] = 0.5 + size * sin(rate * t);
        v[i] = size * rate * cos(rate * t);
        a[i] = -size * rate * rate * sin(rate * t);
    }
}

static void histogram(const char *title, const Tick *ticks, int count, size_t offset)
{
    int bins[BINS] = {0}, i, k, most = 1;
    double worst = 0.0;
    for (i = 0; i < count; i++) {
        const double us = *(const double *)((const char *)&ticks[i] + offset);
        for (k = 0; k < BINS - 1 && us >= 0.25 * pow(2.0, k); k++)
            ;
        bins[k]++;
        worst = us > worst ? us : worst;
    }
    for (k = 0; k < BINS; k++)
        most = bins[k] > most ? bins[k] : most;
    printf("%s, %d times, at most %.1f us\n", title, count, worst);
    for (k = 0; k < BINS; k++) {
        printf("  %s %6.2f us %6d ", k < BINS - 1 ? "< " : ">=", 0.25 * pow(2.0, k < BINS - 1 ? k : k - 1), bins[k]);
        for (i = 0; i < 50 * bins[k] / most; i++)
            putchar('#');
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    char problem[1000] = "";
    double q_des[ARM_NQ], v_des[ARM_NV], a_des[ARM_NV], worst = 0.0;
    struct timespec due, woken, done;
    int count, i, k, code = 0;
    mjModel *model;
    mjData *data;
    Tick *ticks;
    FILE *file;

    if (argc != 4) {
        fprintf(stderr, "loop model.xml seconds numbers.csv\n");
        return 2;
    }
    count = (int)(1000.0 * atof(argv[2]));
    model = mj_loadXML(argv[1], NULL, problem, sizeof problem);
    ticks = calloc((size_t)(count > 0 ? count : 1), sizeof *ticks);
    if (model == NULL || ticks == NULL) {
        fprintf(stderr, "%s\n", problem);
        return 1;
    }
    model->opt.timestep = 1e-9 * PERIOD;
    model->opt.disableflags |= mjDSBL_CONTACT;
    data = mj_makeData(model);
    if (model->nq != ARM_NQ || model->nv != ARM_NV) {
        fprintf(stderr, "%s has %d positions; expected %d\n", argv[1], (int)model->nq, ARM_NQ);
        return 1;
    }
    reference(0.0, data->qpos, data->qvel, a_des);

    clock_gettime(CLOCK_MONOTONIC, &due);
    for (k = 0; k < count; k++) {
        due.tv_nsec += PERIOD;
        if (due.tv_nsec >= 1000000000L) {
            due.tv_nsec -= 1000000000L;
            due.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        clock_gettime(CLOCK_MONOTONIC, &woken);

        /* The controller: gains are those that Python gave it, so they are NULL here. */
        reference(data->time, q_des, v_des, a_des);
        code = arm_computed_torque(data->qpos, data->qvel, q_des, v_des, a_des, NULL, NULL, data->qfrc_applied);
        clock_gettime(CLOCK_MONOTONIC, &done);
        if (code != ARM_OK) { /* the robot would be stopped here */
            fprintf(stderr, "the controller refused the state: code %d\n", code);
            break;
        }
        for (i = 0; i < ARM_NQ; i++)
            ticks[k].error = fmax(ticks[k].error, fabs(q_des[i] - data->qpos[i]));
        ticks[k].late = elapsed(&due, &woken);
        ticks[k].took = elapsed(&woken, &done);
        worst = fmax(worst, ticks[k].error);

        mj_step(model, data); /* the robot, in place of a bus with motors */
    }

    histogram("the controller took", ticks, count, offsetof(Tick, took));
    histogram("the loop woke up late by", ticks, count, offsetof(Tick, late));
    printf("no joint was more than %.2f mrad from where it should be\n", 1e3 * worst);
    file = fopen(argv[3], "w");
    for (k = 0; file != NULL && k < count; k++)
        fprintf(file, "%.3f,%.3f,%.9f\n", ticks[k].late, ticks[k].took, ticks[k].error);
    if (file != NULL)
        fclose(file);
    mj_deleteData(data);
    mj_deleteModel(model);
    free(ticks);
    return code;
}
