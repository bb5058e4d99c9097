import type { ConnectorModule } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import type { ConfigurationWatch } from './config/file/configuration-state.ts';
import type { UnusedEmr } from './ehr/registry.ts';
import type { StoredEmrs } from './ehr/stored/stored-emrs.ts';
import { describeError } from './log/describe-error.ts';
import type { Changes, Configured, createReconfigure } from './reconfigure.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { type KnownEmrs, withStored } from './stored-emrs.ts';

/** Milliseconds after which stored EHRs that could not be used are tried again. Twice as long each time, up to the longest. */
const shortestRetryPause = 10_000;
/** Milliseconds after which one that is being opened is looked at again. */
const openingPause = 1_000;
const longestRetryPause = 300_000;

/** The configuration file and the EHRs in the database: one configuration for the gateway, and one change of it at a time. */
export interface Sources {
  /** Uses another file: see `createReconfigure`. It may have no EHR with the id of a stored one. */
  reconfigure(file: Configured, isForced: boolean): Promise<Changes>;
  /** Takes the revision of the stored EHRs as it is now, and follows it. */
  follow(revision: string | null): void;
  /**
   * Reads the stored EHRs. Afterwards, every change committed before the call is in effect, or is being opened, or has its reason
   * in `watch` or the log.
   */
  refresh(): Promise<void>;
  /** The ids of all stored EHRs, also of drafts. */
  storedIds(): ReadonlySet<string>;
  stop(): Promise<void>;
}

interface Parts {
  /** What the gateway has started with. */
  readonly file: Configured;
  readonly stored: StoredEmrs;
  readonly unused: readonly UnusedEmr[];
  readonly known: KnownEmrs;
  readonly migrated: readonly ConnectorModule[];
  readStored(): Promise<StoredEmrs>;
  readonly reconfigure: ReturnType<typeof createReconfigure>;
  readonly watch: ConfigurationWatch;
  readonly log: Logger;
}

export function createSources({ migrated, readStored, reconfigure, watch, log, ...first }: Parts): Sources {
  let { file, stored, known } = first;
  let turn: Promise<unknown> = Promise.resolve();
  let isReading = false;
  /** The revision that was read last, or whose reading failed: then `retryAt` decides. */
  let tried = stored.revision;
  /** `performance.now()`. Absent: all are used. */
  let retryAt: number | undefined;
  let retryPause = shortestRetryPause;
  tell(first.unused);

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  async function use(
    nextFile: Configured,
    nextStored: StoredEmrs,
    isForced: boolean,
    isSameFile: boolean,
  ): Promise<Changes> {
    const next = await withStored(nextFile, nextStored.emrs, migrated, known);
    const changes = await reconfigure(next.configured, isForced, isSameFile);
    file = nextFile;
    known = next.known;
    tell([...next.unused, ...changes.unused]);
    if (changes.isOpening) retryAt = performance.now() + openingPause;
    return changes;
  }

  function tell(unused: readonly UnusedEmr[]): void {
    const isSome = unused.length > 0;
    retryAt = isSome ? performance.now() + retryPause : undefined;
    retryPause = isSome ? Math.min(2 * retryPause, longestRetryPause) : shortestRetryPause;
    for (const { emr, text } of watch.unused(unused)) log.error({ emr, mistake: text }, 'stored EHR not used');
  }

  async function refresh(): Promise<void> {
    const next = await readStored();
    const isOther = next.revision !== stored.revision;
    if (isOther) retryPause = shortestRetryPause;
    const { added, reconnected, removed } = await use(file, next, false, true);
    stored = next;
    tried = next.revision;
    if (isOther) log.info({ added, reconnected, removed }, 'stored EHRs in use');
  }

  async function tryRefresh(): Promise<void> {
    try {
      await inTurn(refresh);
    } catch (error) {
      retryAt = performance.now() + retryPause;
      log.error({ cause: describeError(error) }, 'using the stored EHRs failed, will retry');
    }
  }

  return {
    reconfigure: (next, isForced) =>
      inTurn(async () => {
        assertNotStored(next, stored);
        return use(next, stored, isForced, false);
      }),
    follow(revision) {
      const isDue = revision !== tried || (retryAt !== undefined && performance.now() > retryAt);
      if (isReading || !isDue) return;
      isReading = true;
      tried = revision;
      void tryRefresh().finally(() => {
        isReading = false;
      });
    },
    refresh: tryRefresh,
    storedIds: () => new Set(stored.emrs.map(({ id }) => id)),
    async stop() {
      await turn;
    },
  };
}

/**
 * An id is in one place only. A draft, or a row that does not open, stops no gateway: the file's EHR is used.
 *
 * @throws {ConfigurationError} if the file has an EHR with the id of a stored one that is open
 */
export function assertNotStored({ configuration }: Configured, stored: StoredEmrs): void {
  const ids = new Set(stored.emrs.filter(({ isOpen, secrets }) => isOpen && secrets).map(({ id }) => id));
  const taken = configuration.emrs.filter(({ id }) => ids.has(id));
  if (taken.length > 0) throw new ConfigurationError(taken.map(({ id }) => takenText(id)));
}

function takenText(id: string): string {
  return `EHR ${id}: the database has an EHR with this id; an id is in one place only: rename it here, or run \`crossward emr remove ${id}\``;
}
