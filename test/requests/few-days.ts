const day = 24 * 60 * 60 * 1000;

/** A window with enough slots for each check of the conformance kit. A longer one only takes longer to read. */
export const fewDays = { start: new Date(Date.now() + day), end: new Date(Date.now() + 16 * day) };
