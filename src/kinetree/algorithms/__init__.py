"""The algorithms, each written once, as the textbook prints it, over whatever scalars `ops` knows.

An algorithm takes a Model and the arrays of one state, returns arrays or spatial values, and never looks at numbers to
decide a path. Each file reads beside its source:

    kinematics                   poses, velocities, accelerations: Featherstone 2008, section 5.3
    configuration                moving along and between configurations, q ⊕ dv: Solà, Deray and Atchuthan 2018
    jacobian                     frame Jacobians and their rates: Siciliano et al. 2009, section 3.1
    analytic_jacobian            rates of pose parameters: Siciliano et al. 2009, section 3.6
    rnea                         inverse dynamics, recursive Newton-Euler: Featherstone 2008, section 5.3
    newton_euler                 the same in 3-vectors, and joint reactions: Craig 2005, section 6.5
    projected                    M, C and g by projecting the laws of every body: Kane and Levinson 1985
    crba                         mass matrix, composite rigid bodies: Featherstone 2008, section 6.2
    aba                          forward dynamics, articulated bodies: Featherstone 2008, section 7.3
    factorization                forward dynamics by M = Lᵀ D L: Featherstone 2008, section 6.5
    forward_dynamics             the faster of these two
    coriolis                     Coriolis matrix and Christoffel symbols: Echeandia and Wensing 2021
    joint_forces                 rotors, friction and springs: Siciliano et al. 2009, section 7.1
    gravity_compensation         forces that hold bodies up against gravity
    fluid                        drag and lift of a fluid around the bodies
    tendons                      lengths and Jacobians of tendons over joints, points and surfaces
    energy                       kinetic and potential energy: Siciliano et al. 2009, section 7.1
    regressor                    τ = Y φ, linear in the inertial parameters: Atkeson, An and Hollerbach 1986
    derivatives                  of inverse and forward dynamics: Singh, Russell and Wensing 2022
    kinematic_derivatives        of a frame's velocity and acceleration: Carpentier and Mansard 2018
    center_of_mass               the centre of mass, velocity, acceleration, Jacobian: Sugihara, Nakamura and Inoue 2002
    center_of_mass_derivatives   of its velocity and acceleration: Singh, Russell and Wensing 2022
    centroidal                   centroidal momentum: Orin, Goswami and Lee 2013
    centroidal_derivatives       of centroidal momentum and its rate: Singh, Russell and Wensing 2022
    locked                       locked inertia, average velocity: Essén 1993; Orin, Goswami and Lee 2013
    one_body                     Newton's and Euler's equations of the whole robot: Orin, Goswami and Lee 2013
    centroidal_coordinates       the equation of motion at the centre of mass: Saccon et al. 2017
    operational_space            the dynamics of a task: Khatib 1987
    constraints                  contacts and closed loops: Carpentier, Budhiraja and Mansard 2021
    constraint_derivatives       of dynamics under constraints: Carpentier, Budhiraja and Mansard 2021
    support_consistent           torques of a robot that stands: Mistry, Buchli and Schaal 2010; Righetti et al. 2011

`passes` has the recursions that several of them share, `arguments` what a call is read by, and `results` the objects
that hold results of a batch.
"""
