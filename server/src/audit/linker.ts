import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { isSerializationFailure } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';
import { describeError } from '../log/describe-error.ts';
import { insertChain, logAnchor, storeAnchor } from './anchors.ts';
import type { AuditKey } from './audit-keys.ts';
import { beginning, type Head, hashOf, type Linkable } from './chain.ts';
import { linkRows, readHead } from './store.ts';

/** Maximum number of rows in one statement. */
const largestBatch = 500;
/**
 * Milliseconds between looks from the first row on. Such a look is slow: PostgreSQL passes over all rows that were linked since
 * its last vacuum. The looks between them continue after the last linked row, and miss rows that commit after a later one.
 */
const completePause = 1_000;

export interface Source<Row> extends Pick<Linkable<Row, never>, 'subject' | 'textOf'> {
  /**
   * Reads the first rows that are not linked. `isFull`: there may be more.
   *
   * @param after rows up to this id need not be read this time
   */
  read(limit: number, after: number): Promise<{ readonly rows: readonly Row[]; readonly isFull: boolean }>;
}

interface Dependencies {
  readonly db: Db;
  readonly key: AuditKey;
  readonly log: Logger;
}

/**
 * Links rows into a chain of this process, after they were committed. It reads, computes the hashes, and links with one
 * statement that checks where the chain ends. So it holds no lock between statements: a process that is stopped in the middle
 * holds up nobody, and links nothing when it continues and others have linked its rows.
 */
export class Linker<Row extends { readonly id: number }> {
  readonly #source: Source<Row>;
  readonly #db: Db;
  readonly #key: AuditKey;
  readonly #log: Logger;
  #chainId: string = randomUUID();
  #isRegistered = false;
  /** `undefined`: a statement failed, and may have been executed. */
  #head: Head | undefined = beginning;
  /** Rows up to here are certainly linked. */
  #stored: Head = beginning;
  #anchored = 0;
  /** The id of the last row that was linked. 0: the next look begins with the first row. */
  #continueAfter = 0;
  #completeAt = Number.NEGATIVE_INFINITY;
  #lastRound: Promise<unknown> = Promise.resolve();

  constructor(source: Source<Row>, { db, key, log }: Dependencies) {
    this.#source = source;
    this.#db = db;
    this.#key = key;
    this.#log = log;
  }

  /** Links rows that were committed. Returns whether there may be more. One round runs at a time. */
  round(): Promise<boolean> {
    const next = this.#lastRound.then(() => this.#linkNext());
    this.#lastRound = next.catch(() => undefined);
    return next;
  }

  /** Writes an anchor if the chain has grown since the last one. */
  async anchor(): Promise<void> {
    const head = this.#stored;
    if (head.position > this.#anchored) await this.#writeAnchor(head, false);
  }

  /** Links what is left, and writes the last anchor. Logs failures. */
  async close(): Promise<void> {
    this.#continueAfter = 0;
    try {
      while (await this.round());
      if (this.#isRegistered) await this.#writeAnchor(this.#stored, true);
    } catch (error) {
      this.#log.error({ cause: describeError(error) }, 'audit chain not closed');
    }
  }

  async #linkNext(): Promise<boolean> {
    const after = this.#placeToContinue();
    // Until the rows are linked, another look begins with the first row.
    this.#continueAfter = 0;
    const { rows, isFull } = await this.#source.read(largestBatch, after);
    try {
      if (rows.length > 0) await this.#link(rows);
      this.#continueAfter = rows.at(-1)?.id ?? after;
    } catch (error) {
      // Another process has linked some of the rows. The next round reads what is left.
      if (!isSerializationFailure(error)) throw error;
    }
    return isFull;
  }

  #placeToContinue(): number {
    const now = performance.now();
    if (now - this.#completeAt < completePause) return this.#continueAfter;
    this.#completeAt = now;
    return 0;
  }

  async #link(rows: readonly Row[]): Promise<void> {
    if (await this.#linkBehind(this.#head ?? (await this.#findHead()), rows)) return;
    if (await this.#linkBehind(await this.#findHead(), rows)) return;
    // Somebody has edited what the database says about the chain.
    await this.#beginNewChain();
    if (!(await this.#linkBehind(beginning, rows))) throw new Error('A new audit chain cannot be written');
  }

  async #linkBehind(head: Head, rows: readonly Row[]): Promise<boolean> {
    let last = head;
    const hashes = rows.map((row) => {
      const place = { chain_id: this.#chainId, position: last.position + 1 };
      last = { position: place.position, hash: hashOf(this.#key, last.hash, this.#source, row, place) };
      return last.hash;
    });
    this.#head = undefined;
    await this.#register();
    const ids = rows.map(({ id }) => id);
    if (!(await linkRows(this.#db, { chainId: this.#chainId, behind: head.position, ids, hashes }))) return false;
    this.#head = last;
    this.#stored = last;
    return true;
  }

  async #register(): Promise<void> {
    if (this.#isRegistered) return;
    await insertChain(this.#db, this.#key, { id: this.#chainId, subject: this.#source.subject });
    this.#isRegistered = true;
  }

  /** The head in the database. If rows that were linked are missing there, a new chain begins. */
  async #findHead(): Promise<Head> {
    const head = await readHead(this.#db, this.#chainId);
    if (head && head.position >= this.#stored.position) return head;
    this.#isRegistered = false;
    if (this.#stored.position === beginning.position) return beginning;
    const position = (head ?? beginning).position + 1;
    this.#log.error({ chain: this.#chainId, position }, 'audit entries are missing in the database');
    await this.#beginNewChain();
    return beginning;
  }

  async #beginNewChain(): Promise<void> {
    await this.#writeAnchor(this.#stored, true);
    this.#chainId = randomUUID();
    this.#isRegistered = false;
    this.#anchored = 0;
    this.#stored = beginning;
  }

  async #writeAnchor(head: Head, isLast: boolean): Promise<void> {
    const anchor = { chainId: this.#chainId, ...head, at: new Date() };
    if (head.position > this.#anchored) logAnchor(this.#log, anchor);
    await storeAnchor(this.#db, this.#key, anchor, isLast);
    // A new chain may have begun meanwhile.
    if (anchor.chainId === this.#chainId) this.#anchored = Math.max(this.#anchored, head.position);
  }
}
