import { AcceptedRequests } from './accepted-requests.ts';
import type { CallScope } from './call-scope.ts';
import { ownRate } from './own-rate.ts';
import type { RateExchange, Slowdown } from './rate-exchange.ts';
import type { TakeTurns } from './shared-turns.ts';
import { Throttled } from './throttled.ts';

interface PaceOptions {
  /** Requests per second of all processes that are never exceeded. */
  readonly fixedRate?: number | undefined;
  /** Agrees on the rate with the other processes. Default: this process is alone. */
  readonly exchange?: RateExchange | undefined;
  /** Takes the turns of a rate that is never exceeded. Default: this process is alone. */
  readonly takeTurns?: TakeTurns | undefined;
  onThrottled?(): void;
}

/**
 * The rate of the requests to one EHR. Without a limit nothing waits. A response that limits the rate (429, or 503 with a short
 * `Retry-After`) sets one: what the EHR has accepted in the time that it names. All requests of the process wait for their turn,
 * those of the oldest call first, so that calls that have begun are completed.
 */
export interface Pace {
  /**
   * Waits for the turn of a request.
   *
   * @throws Throttled if it would come too late for its call: for the first request of a call, after half of its time; or if its
   *   call fails meanwhile
   */
  turn(scope: CallScope | undefined): Promise<void>;
  /** The EHR has responded, and has not limited the rate. */
  accepted(): void;
  /**
   * The EHR has limited the rate. Nothing is sent until its `Retry-After`, for five minutes at most.
   *
   * @param sentAt when the request was sent, in terms of `performance.now()`: all those in flight count once
   */
  throttled(sentAt: number, retryAfterSeconds: number | undefined): void;
  /** Requests per second that this process may send. `undefined`: no limit. */
  rate(): number | undefined;
  /** Never exceeds this rate from now on, all processes together. `undefined`: changes nothing. */
  limit(requestsPerSecond: number | undefined): void;
}

const exchangeMs = 1000;
/** Requests per second. */
const lowestRate = 0.2;
/** Until `Retry-After`, the EHR accepts this many at least. Fewer that it has accepted say nothing about an unknown limit. */
const leastAccepted = 10;
/** After a slowdown, the rate is at most this part of the former one, and at least half of it. */
const reduction = 0.9;
/** Seconds for which a request waits without `Retry-After`. */
const pauseSeconds = 1;
/** Seconds after which the EHR is asked again, whatever it or another process says. */
const longestPauseSeconds = 300;
/** How much later than `Retry-After` requests come at most, so that those of several gateways do not come together. */
const jitter = 0.1;
/** Milliseconds that a request waits without a call, as in a command. */
const longestWaitMs = 10_000;
/** Milliseconds after which a turn is no longer used, at least: a busy process can be late. */
const turnMs = 500;
/** A call is told before it times out. */
const marginMs = 50;

interface Waiting {
  readonly order: number;
  begin(): void;
}

export function createPace({
  fixedRate,
  exchange = ownRate(),
  takeTurns,
  onThrottled = () => undefined,
}: PaceOptions = {}): Pace {
  const accepted = new AcceptedRequests();
  const waiting = new Set<Waiting>();
  const underWay = new WeakSet<CallScope>();
  let most = fixedRate;
  let total = most;
  let share = 1;
  let tokens = 1;
  let filledAt = performance.now();
  let pausedUntil = 0;
  let slowedAt = Number.NEGATIVE_INFINITY;
  /** Not told to the other processes yet. */
  let slowdown: Omit<Slowdown, 'pauseSeconds'> | undefined;
  let hasExchangeFailed = false;
  let asked = 0;
  let hasWaited = false;
  let exchangedAt = Number.NEGATIVE_INFINITY;
  let isExchanging = false;
  let timer: NodeJS.Timeout | undefined;
  /** What this process may send between two moments. */
  let turns = { count: 0, from: 0, until: 0 };
  let isTakingTurns = false;
  /** Until then this process keeps to its part of the rate, because the database gives no turns. */
  let aloneUntil = 0;

  const rate = () => (total === undefined ? undefined : Math.max(lowestRate / 10, total * share));

  /** Whether a request may be sent now. It then counts as sent. */
  function take(now: number): boolean {
    if (now < pausedUntil) return false;
    const perSecond = rate();
    if (perSecond === undefined) return true;
    if (takesTurns(now)) {
      if (turns.count === 0 || now < turns.from || now > turns.until) return false;
      turns.count--;
      return true;
    }
    tokens = Math.min(together(perSecond), tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  }

  /** Whether every process asks for its turns. Otherwise each has its part of the rate, and they may send at one moment. */
  function takesTurns(now: number): boolean {
    return takeTurns !== undefined && most !== undefined && now >= aloneUntil;
  }

  /** Asks for turns of the requests that wait, unless there are some. */
  function askForTurns(now: number): void {
    const hasTurns = turns.count > 0 && now <= turns.until;
    if (!takeTurns || !takesTurns(now) || total === undefined || isTakingTurns || hasTurns || now < pausedUntil) return;
    const perSecond = total;
    const count = Math.min(waiting.size, Math.floor(together(perSecond)));
    isTakingTurns = true;
    takeTurns(count, perSecond)
      .then((seconds) => {
        const from = performance.now() + Math.max(0, seconds) * 1000;
        turns = { count, from, until: from + Math.max(turnMs, (count / perSecond) * 1000) };
      })
      .catch(() => {
        aloneUntil = performance.now() + exchangeMs;
      })
      .finally(() => {
        isTakingTurns = false;
        if (waiting.size > 0) drain();
      });
  }

  function drain(): void {
    clearTimeout(timer);
    timer = undefined;
    const now = performance.now();
    while (waiting.size > 0 && take(now)) oldest()?.begin();
    if (waiting.size > 0) {
      askForTurns(now);
      timer = setTimeout(drain, Math.ceil(Math.min(exchangeMs, Math.max(pausedUntil - now, untilNext(now), 1))));
    }
    agree();
  }

  /** Milliseconds until a request may be sent. */
  function untilNext(now: number): number {
    const perSecond = rate();
    if (perSecond === undefined) return 0;
    if (takesTurns(now)) return turns.count > 0 ? turns.from - now : exchangeMs;
    return ((1 - Math.min(1, tokens)) / perSecond) * 1000;
  }

  function oldest(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const one of waiting) if (!first || one.order < first.order) first = one;
    return first;
  }

  /** Exchanges the rate with the other processes, once a second while there is a limit and something to send. */
  function agree(): void {
    if (isExchanging || (total === undefined && !slowdown)) return;
    const now = performance.now();
    const seconds = (now - exchangedAt) / 1000;
    if ((!slowdown || hasExchangeFailed) && seconds * 1000 < exchangeMs) return;
    const demand = waiting.size + asked / Math.max(1, Math.min(seconds, 60));
    const told = slowdown && { ...slowdown, pauseSeconds: Math.max(0, pausedUntil - now) / 1000 };
    isExchanging = true;
    exchangedAt = now;
    const isWaiting = hasWaited || waiting.size > 0;
    asked = 0;
    hasWaited = false;
    slowdown = undefined;
    exchange({ demand, isWaiting, slowdown: told })
      .then((shared) => {
        hasExchangeFailed = false;
        // A later slowdown of this process is not known to the others yet.
        if (!slowdown) total = lower(most, shared.rate);
        share = shared.share;
        const seconds = Math.min(shared.pauseSeconds, longestPauseSeconds);
        pausedUntil = Math.max(pausedUntil, performance.now() + seconds * 1000);
      })
      // Without the database, this process keeps its part. The next exchange corrects it.
      .catch(() => {
        hasExchangeFailed = true;
        slowdown ??= told;
      })
      .finally(() => {
        isExchanging = false;
        if (waiting.size > 0) drain();
      });
  }

  function tooLate(now: number): Throttled {
    const queued = waiting.size / (rate() ?? Number.POSITIVE_INFINITY);
    // The random part is there so that the callers do not come back together.
    const seconds = Math.max(0, pausedUntil - now) / 1000 + queued * (1 + Math.random());
    return new Throttled(Math.max(1, Math.ceil(seconds)));
  }

  function wait(scope: CallScope | undefined, now: number): Promise<void> {
    const order = scope?.begun ?? now;
    const latest = latestTurn(scope, now);
    const ahead = [...waiting].filter((it) => it.order <= order).length;
    const soonest = Math.max(now, pausedUntil) + (ahead / (rate() ?? Number.POSITIVE_INFINITY)) * 1000;
    hasWaited = true;
    if (soonest > latest || scope?.facts.hasFailed) throw tooLate(now);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(expiry);
        waiting.delete(one);
        stays?.();
      };
      const leave = () => {
        end();
        reject(tooLate(performance.now()));
      };
      const expiry = setTimeout(leave, Math.max(0, latest - now));
      const stays = scope?.onFailure(leave);
      const one: Waiting = {
        order,
        begin() {
          end();
          resolve();
        },
      };
      waiting.add(one);
      timer ??= setTimeout(drain, 1);
    });
  }

  /** A call that has sent nothing yet must not begin so late that it ends half-way. */
  function latestTurn(scope: CallScope | undefined, now: number): number {
    if (!scope) return now + longestWaitMs;
    const deadline = scope.deadline() - marginMs;
    return underWay.has(scope) ? deadline : (scope.begun + deadline) / 2;
  }

  return {
    rate,
    limit(requestsPerSecond) {
      most = lower(most, requestsPerSecond);
      total = lower(most, total);
    },
    async turn(scope) {
      asked++;
      const now = performance.now();
      if (waiting.size > 0 || !take(now)) await wait(scope, now);
      if (scope) underWay.add(scope);
      agree();
    },
    accepted: () => accepted.add(performance.now()),
    throttled(sentAt, retryAfterSeconds) {
      onThrottled();
      const now = performance.now();
      const pause = Math.min(retryAfterSeconds ?? pauseSeconds / 2, longestPauseSeconds) * 1000;
      const spread = retryAfterSeconds === undefined ? pause : Math.max(100, pause * jitter);
      pausedUntil = Math.max(pausedUntil, now + pause + Math.random() * spread);
      if (sentAt <= slowedAt) return;
      slowedAt = now;
      // `Retry-After` says in which time the EHR counts.
      const window = Math.min(60, Math.max(1, retryAfterSeconds ?? 1));
      const isShared = total !== undefined;
      const own = Math.max(isShared ? 0 : leastAccepted, accepted.within(window, now)) / window;
      const estimate = Math.max(lowestRate, (own / Math.max(share, 0.01)) * reduction);
      total = total === undefined ? estimate : Math.max(lowestRate, total / 2, Math.min(total * reduction, estimate));
      tokens = 0;
      filledAt = now;
      slowdown = { rate: total, isShared };
      agree();
    },
  };
}

/** How many requests may come together: those of a tenth of a second. */
function together(perSecond: number): number {
  return Math.max(1, perSecond / 10);
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
