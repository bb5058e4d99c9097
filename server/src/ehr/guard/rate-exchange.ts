/** What a process tells the others about its requests to an EHR. */
export interface RateReport {
  /** Requests per second that this process wants to send. */
  readonly demand: number;
  /** Whether requests have waited for the rate since the last report, so that a higher one is of use. */
  readonly isWaiting: boolean;
  /** The EHR has limited a request since the last report. */
  readonly slowdown: Slowdown | undefined;
}

export interface Slowdown {
  /** Requests per second for all processes, as this process estimates it. */
  readonly rate: number;
  /** Whether the estimate starts from the rate of all processes, not only from what this one has sent. */
  readonly isShared: boolean;
  readonly pauseSeconds: number;
}

/** What all processes have agreed on. */
export interface SharedRate {
  /** Requests per second of all processes. `undefined`: no limit is known. */
  readonly rate: number | undefined;
  /** The part of it that this process may use: 0 to 1. */
  readonly share: number;
  /** Seconds until the EHR may be asked again. */
  readonly pauseSeconds: number;
}

/** Agrees on the rate of requests to one EHR with the other processes. Rejects if they cannot be reached. */
export type RateExchange = (report: RateReport) => Promise<SharedRate>;
