import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AuditedAccess } from '../context/work-context.ts';
import { grouped } from '../db/grouped.ts';
import type { Db } from '../db/kysely.ts';
import type { AuditKey } from './audit-keys.ts';
import {
  insertDrafts,
  insertDraftsWithoutSync,
  isGenuine,
  type NewDraft,
  newDraft,
  readUnlinkedDrafts,
  type StoredDraft,
} from './drafts.ts';
import { linkedAccesses } from './linked-accesses.ts';
import { type ActivityRow, linkedActivity, readUnlinkedActivity } from './linked-activity.ts';
import { Linker } from './linker.ts';
import type { AuditMetrics } from './metrics.ts';

/** Records accesses to patients' records, and links them and what operators did into chains. */
export interface AuditTrail {
  readonly key: AuditKey;
  /** The draft of an access, for the statement that ends a write. */
  draft(access: AuditedAccess): NewDraft;
  /**
   * Stores an access by a statement of its own, which requests that run at the same time share.
   *
   * @param isRead the commit does not wait for the disk, unless the configuration says so
   * @throws the error of the database. The draft may have been stored.
   */
  record(access: AuditedAccess, isRead?: boolean): Promise<void>;
  /** Links drafts of accesses. Returns whether there may be more. */
  linkAccesses(): Promise<boolean>;
  /** Links what operators did. Returns whether there may be more. */
  linkActivity(): Promise<boolean>;
  /** Writes anchors of the chains that have grown since their last one. */
  anchor(): Promise<void>;
  /** Links what is left, and writes the last anchors. Logs failures. */
  close(): Promise<void>;
}

interface Dependencies {
  readonly key: AuditKey;
  /** Whether the commit of a read waits for the disk. Default: it does not. */
  readonly readsWaitForDisk?: boolean;
  /** For background jobs. */
  readonly background: Db;
  readonly log: Logger;
  readonly metrics: AuditMetrics;
}

/** Milliseconds between looks for drafts of others, and for own ones when there were none lately. */
const idlePause = 5_000;
/** Falsified drafts that a process remembers. */
const mostFalsified = 1_000;
/** Milliseconds after which a request has committed its draft, or failed. */
const longestRequest = 60_000;

const begins = 'INSERT INTO audit_drafts';
const insertShared = grouped({ begins, run: inserting(insertDrafts) });
const insertSharedWithoutSync = grouped({ begins, run: inserting(insertDraftsWithoutSync) });

function inserting(insert: (db: Db, drafts: readonly NewDraft[]) => Promise<void>) {
  return async (db: Db, drafts: readonly NewDraft[]): Promise<undefined[]> => {
    await insert(db, drafts);
    return [];
  };
}

/** The audit trail of one process. */
export class Trail implements AuditTrail {
  readonly key: AuditKey;
  readonly #db: Db;
  readonly #background: Db;
  readonly #log: Logger;
  readonly #metrics: AuditMetrics;
  readonly #insertRead: typeof insertShared;
  readonly #writerId = randomUUID();
  readonly #accesses: Linker<StoredDraft>;
  readonly #activity: Linker<ActivityRow>;
  /** Ids of drafts that no gateway has written as they are, the lowest first. They stay where they are. */
  #falsified: number[] = [];
  /** Drafts up to this id are not read any more. */
  #readAfter = 0;
  #draftedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(db: Db, { key, readsWaitForDisk = false, background, log, metrics }: Dependencies) {
    this.key = key;
    this.#db = db;
    this.#background = background;
    this.#log = log;
    this.#metrics = metrics;
    this.#insertRead = readsWaitForDisk ? insertShared : insertSharedWithoutSync;
    const dependencies = { db: background, key, log };
    const { subject, textOf } = linkedAccesses;
    this.#accesses = new Linker<StoredDraft>(
      { subject, textOf, read: (limit, after) => this.#readDrafts(limit, after) },
      dependencies,
    );
    const readActivity = async (limit: number) => {
      const rows = await readUnlinkedActivity(background, limit);
      return { rows, isFull: rows.length === limit };
    };
    this.#activity = new Linker<ActivityRow>({ ...linkedActivity, read: readActivity }, dependencies);
  }

  draft(access: AuditedAccess): NewDraft {
    this.#draftedAt = performance.now();
    return newDraft(this.key, this.#writerId, access);
  }

  async record(access: AuditedAccess, isRead = false): Promise<void> {
    try {
      await (isRead ? this.#insertRead : insertShared)(this.#db, this.draft(access));
    } catch (error) {
      this.#metrics.notStored(access.actor);
      throw error;
    }
  }

  async linkAccesses(): Promise<boolean> {
    const now = performance.now();
    // An idle process need not look all the time.
    if (now - this.#draftedAt > longestRequest && now - this.#lookedAt < idlePause) return false;
    this.#lookedAt = now;
    return this.#accesses.round();
  }

  linkActivity(): Promise<boolean> {
    return this.#activity.round();
  }

  async anchor(): Promise<void> {
    await this.#accesses.anchor();
    await this.#activity.anchor();
  }

  async close(): Promise<void> {
    await this.#accesses.close();
    await this.#activity.close();
  }

  async #readDrafts(limit: number, after: number) {
    const selection = {
      keyId: this.key.id,
      writerId: this.#writerId,
      except: this.#falsified,
      after: Math.max(after, this.#readAfter),
      limit,
    };
    const drafts = await readUnlinkedDrafts(this.#background, selection);
    const genuine: StoredDraft[] = [];
    const falsified: number[] = [];
    for (const draft of drafts) {
      if (isGenuine(this.key, draft)) genuine.push(draft);
      else falsified.push(draft.id);
    }
    for (const draft of falsified) this.#log.error({ draft }, 'audit draft was falsified in the database');
    this.#remember(falsified, genuine[0]?.id ?? Number.POSITIVE_INFINITY);
    return { rows: genuine, isFull: drafts.length === limit };
  }

  /**
   * Bounds what is remembered of falsified drafts: those below the first one to be linked are not read again. A genuine draft
   * below them that commits later is linked by the next process; until then it counts as overdue.
   */
  #remember(falsified: readonly number[], firstToLink: number): void {
    if (falsified.length === 0) return;
    const all = [...this.#falsified, ...falsified].sort((a, b) => a - b);
    const surplus = all.slice(0, Math.max(0, all.length - mostFalsified));
    const forgotten = surplus.filter((id) => id < firstToLink);
    this.#readAfter = forgotten.at(-1) ?? this.#readAfter;
    this.#falsified = all.slice(forgotten.length);
  }
}
