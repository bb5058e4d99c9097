import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { isRejectedRow, isUniqueViolation, mayHaveBeenSent } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';
import { describeError } from '../log/describe-error.ts';
import { type Access, entryOf } from './access.ts';
import { insertChain, logAnchor, storeAnchor } from './anchors.ts';
import type { AuditKey } from './audit-key.ts';
import { appendTo, beginning, type Entry, type Head } from './chain.ts';
import type { AuditMetrics } from './metrics.ts';
import { insertEntries, readHead } from './store.ts';

/** Maximum number of entries in one statement. */
const largestGroup = 100;
/** Attempts to store a group if its connection fails. */
const attempts = 3;

/** Records accesses to patients' records. */
export interface AuditTrail {
  readonly key: AuditKey;
  /**
   * Stores an access. It is durable when this resolves.
   *
   * @throws the error of the database. The entry may have been stored.
   */
  record(access: Access): Promise<void>;
  /** Writes an anchor if the chain has grown since the last one. */
  anchor(): Promise<void>;
  /**
   * Waits for entries that are being stored, and writes the last anchor. Logs failures. An entry that is stored later, of a
   * request whose caller has disconnected, moves the anchor.
   */
  close(): Promise<void>;
}

interface Dependencies {
  readonly log: Logger;
  readonly metrics: AuditMetrics;
}

interface Member {
  readonly entry: Omit<Entry, 'chain_id' | 'position'>;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * The chain of one process. Concurrent requests share a statement. One statement is in progress at a time,
 * because an entry needs the hash of the one before it.
 */
export class Trail implements AuditTrail {
  readonly key: AuditKey;
  readonly #db: Db;
  readonly #log: Logger;
  readonly #metrics: AuditMetrics;
  #chainId: string = randomUUID();
  #isRegistered = false;
  /** `undefined`: a statement failed, and may have been executed. */
  #head: Head | undefined = beginning;
  /** Entries up to here are certainly stored. */
  #stored: Head = beginning;
  #anchored = 0;
  #waiting: Member[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(db: Db, key: AuditKey, { log, metrics }: Dependencies) {
    this.#db = db;
    this.key = key;
    this.#log = log;
    this.#metrics = metrics;
  }

  async record(access: Access): Promise<void> {
    try {
      const done = Promise.withResolvers<void>();
      this.#waiting.push({ entry: entryOf(this.key, new Date(), access), done });
      this.#running ??= this.#storeAll();
      await done.promise;
    } catch (error) {
      this.#metrics.notStored(access.actor);
      throw error;
    }
    if (this.#isClosed) await this.close();
  }

  async anchor(): Promise<void> {
    const head = this.#stored;
    if (head.position > this.#anchored) await this.#writeAnchor(head, false);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    if (!this.#isRegistered) return;
    await this.#writeAnchor(this.#stored, true).catch((error) =>
      this.#log.error({ cause: describeError(error) }, 'audit anchor not stored'),
    );
  }

  async #writeAnchor(head: Head, isLast: boolean): Promise<void> {
    const anchor = { chainId: this.#chainId, ...head, at: new Date() };
    if (head.position > this.#anchored) logAnchor(this.#log, anchor);
    await storeAnchor(this.#db, this.key, anchor, isLast);
    // A new chain may have begun meanwhile.
    if (anchor.chainId === this.#chainId) this.#anchored = Math.max(this.#anchored, head.position);
  }

  async #storeAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#storeGroup(this.#waiting.splice(0, largestGroup));
    this.#running = undefined;
  }

  async #storeGroup(members: readonly Member[]): Promise<void> {
    try {
      await this.#store(members.map(({ entry }) => entry));
      for (const { done } of members) done.resolve();
    } catch (error) {
      const isOfOneEntry = isRejectedRow(error);
      if (members.length > 1 && isOfOneEntry) {
        // One entry must not make others fail.
        for (const member of members) await this.#storeGroup([member]);
        return;
      }
      // Fail the waiting entries too: each group would wait for the same failure.
      const failed = isOfOneEntry ? members : [...members, ...this.#waiting.splice(0)];
      for (const { done } of failed) done.reject(error);
    }
  }

  async #store(entries: readonly Member['entry'][]): Promise<void> {
    let last: Head | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const head = this.#head ?? (await this.#findHead());
        // The server executed an earlier attempt, although its connection failed.
        const isStored = last !== undefined && head.position === last.position && head.hash.equals(last.hash);
        if (!isStored) {
          const chained = appendTo(this.key, this.#chainId, head, entries);
          last = chained.at(-1) ?? head;
          this.#head = undefined;
          await this.#register();
          if (!(await insertEntries(this.#db, chained))) throw new ChainBroken();
        }
        this.#head = last ?? head;
        this.#stored = this.#head;
        return;
      } catch (error) {
        // A unique violation: the server executed an earlier statement after its connection had failed.
        const canRetry = mayHaveBeenSent(error) || isUniqueViolation(error) || error instanceof ChainBroken;
        if (attempt === attempts || !canRetry) throw error;
      }
    }
  }

  async #register(): Promise<void> {
    if (this.#isRegistered) return;
    await insertChain(this.#db, this.key, this.#chainId);
    this.#isRegistered = true;
  }

  /** The head in the database. If entries that were stored are missing there, a new chain begins. */
  async #findHead(): Promise<Head> {
    const head = await readHead(this.#db, this.#chainId);
    if (head && head.position >= this.#stored.position) return head;
    this.#isRegistered = false;
    if (this.#stored.position === beginning.position) return beginning;
    const position = (head ?? beginning).position + 1;
    this.#log.error({ chain: this.#chainId, position }, 'audit entries are missing in the database');
    await this.#writeAnchor(this.#stored, true);
    this.#chainId = randomUUID();
    this.#anchored = 0;
    this.#stored = beginning;
    return beginning;
  }
}

/** The database lacks the end of the chain. */
class ChainBroken extends Error {
  override readonly name = 'ChainBroken';
}
