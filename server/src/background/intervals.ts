/**
 * Milliseconds between the end of a round of a background job and its next one, unless there is more to do. The shortest of those
 * that run when something is due is also the time between two looks for what is due.
 */
export const defaultIntervals = {
  ehr: 1_000,
  availability: 1_000,
  changes: 1_000,
  events: 500,
  watches: 500,
  /** Between two looks for what is due while nobody has sent a request for a minute. */
  idle: 2_000,
  /** A revoked client stops working in other processes after this time. The documents say 5 seconds. */
  clients: 3_000,
  /** Well within the time for which the grants of a gateway count. */
  grants: 60_000,
  reseal: 60_000,
  messages: 2_000,
  /** While messages are due. */
  sending: 500,
  /** Several looks a minute, of which one writes. */
  history: 10_000,
  orphans: 10_000,
  deletion: 10_000,
  /** While nobody sends requests, and so little can be deleted. */
  idleDeletion: 30_000,
  /** Months are created weeks ahead. */
  months: 60_000,
  accesses: 500,
  activity: 5_000,
  anchor: 5 * 60_000,
  gauges: 10_000,
  proofs: 30_000,
  /** Clocks of machines drift by seconds a day. An operator, or a failover, sets one at once. */
  clock: 10_000,
  /** New connections read changed files anyway. */
  certificates: 10_000,
  /** An EHR is checked once a day. */
  checks: 60_000,
  /** Slots are added for whole days, weeks ahead. */
  schedules: 15 * 60_000,
};

export type Intervals = typeof defaultIntervals;
