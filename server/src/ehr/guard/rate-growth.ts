/**
 * How the rate rises again, by one step a second and only while requests wait. The first steps are small: after a burst the rate
 * is close to the limit of the EHR. Each is twice as large as the one before: an EHR that accepts them all has a limit far above.
 */
export const rateGrowth = {
  stepSeconds: 1,
  /** The part by which the first step raises the rate, and by which a step raises it at most. */
  least: 0.025,
  most: 1,
  /** The rate does not rise for this long after a pause, nor for as long as the pause: the EHR may count for that long. */
  calmSeconds: 2,
  /** A limit that the EHR has not enforced for this long is forgotten. */
  forgottenSeconds: 600,
};
