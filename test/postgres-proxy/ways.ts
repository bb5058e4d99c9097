import type { Unit } from './unit.ts';

/**
 * How a unit fails. The server rolls back what it has not committed.
 *
 * - `before`: the connection breaks before the server gets the unit
 * - `after`: the server executes the unit, and the connection breaks without an answer
 * - `late`: the client's connection breaks, and the server gets the unit after a while
 * - `delay`: the server gets the unit after a while. The client gets the answer if it is still there
 * - `silent`: the server executes the unit. The connection stays open, without any answer from now on
 * - `in request`: the connection breaks when the server has got a part of the unit. It executes a statement without its Sync,
 *   and rolls it back
 * - `in answer`: the server executes the unit, and the connection breaks when the client has got all of the answer but
 *   ReadyForQuery
 * - `all`: all connections of the proxy break, `before` or `after` the server executes the unit, and new ones are refused
 */
export type Way =
  | { readonly kind: 'before' | 'after' | 'silent' | 'in request' | 'in answer' }
  | {
      readonly kind: 'late' | 'delay';
      /** How long the unit is held. Default: until `release`. */
      readonly holdMilliseconds?: number;
    }
  | {
      readonly kind: 'all';
      readonly at: 'before' | 'after';
      /** How long new connections are refused. Default: until `comeUp`. */
      readonly refuseMilliseconds?: number;
    };

/** Selects units. */
export type Matches = (unit: Unit) => boolean;

/** Commits, and statements outside a transaction, that change something. */
export const isWrite: Matches = ({ kind, writes }) => kind !== 'part' && writes;

/** A failure of one unit. */
export interface Cut {
  readonly way: Way['kind'];
  readonly unit: Unit;
  /** In milliseconds of `performance.now()`. */
  readonly at: number;
}

/** A failure that waits for its unit. */
export interface PlannedCut {
  /** Resolves when a unit fails: its connection is broken, or it is held, or silent. */
  readonly met: Promise<Unit>;
  /** Resolves when the server is done with the unit: it has executed it, or has ended the connection without. */
  readonly settled: Promise<Unit>;
  /** Lets a unit through that is held (`late`, `delay`), now or when it comes. */
  release(): void;
}

/** A failure with the means to report it. */
export class Failure implements PlannedCut {
  readonly way: Way;
  readonly #met = Promise.withResolvers<Unit>();
  readonly #settled = Promise.withResolvers<Unit>();
  readonly #released = Promise.withResolvers<void>();
  readonly met = this.#met.promise;
  readonly settled = this.#settled.promise;

  constructor(way: Way) {
    this.way = way;
  }

  meet(unit: Unit): void {
    this.#met.resolve(unit);
  }

  settle(unit: Unit): void {
    this.#met.resolve(unit);
    this.#settled.resolve(unit);
  }

  release(): void {
    this.#released.resolve();
  }

  /** Waits until a held unit may pass. */
  async hold(): Promise<void> {
    const { way } = this;
    const timer =
      'holdMilliseconds' in way && way.holdMilliseconds !== undefined
        ? setTimeout(() => this.release(), way.holdMilliseconds)
        : undefined;
    await this.#released.promise;
    clearTimeout(timer);
  }
}
