import type { Logger } from 'pino';
import { startLoop } from './background/loop.ts';
import type { Configuration } from './config/configuration.ts';
import type { ConfigurationWatch } from './config/file/configuration-state.ts';
import { type Loaded, loadAgain } from './config/file/load.ts';
import { watchFile } from './config/file/watch-file.ts';
import { formatPath } from './config/mistakes/mistake.ts';
import { allowedPlainText } from './config/rules/plain-text.ts';
import { connectors } from './ehr/connectors.ts';
import type { Reload, ReloadAnswer } from './http/routes/reload.ts';
import { describeError } from './log/describe-error.ts';
import type { Changes, Configured } from './reconfigure.ts';
import { ConfigurationError } from './startup/configuration-error.ts';

/** Milliseconds between two looks at the file. One that has changed is read at the second look that finds it the same. */
const lookPause = 2_000;
/**
 * Milliseconds after which a file is tried again that could not be used. Twice as long each time, up to the longest. What was wrong
 * may be another file that it names, such as a certificate.
 */
const shortestRetryPause = 10_000;
const longestRetryPause = 300_000;

export interface Reloading {
  readonly reload: Reload;
  stop(): Promise<void>;
}

type FileChanges = Pick<Changes, 'added' | 'reconnected' | 'removed'>;

interface Parts {
  readonly path: string;
  /** What the gateway has started with. */
  readonly loaded: Loaded;
  reconfigure(configured: Configured, isForced: boolean): Promise<FileChanges>;
  /** Of EHRs in the database. */
  storedIds(): ReadonlySet<string>;
  readonly watch: ConfigurationWatch;
  readonly log: Logger;
}

const noChanges = { added: [], reconnected: [], removed: [], waiting: [], mistakes: [] } as const;

/** Reads the configuration file again when it is asked to, and when the file has changed. One reading at a time. */
export function startReloading({ path, loaded, reconfigure, storedIds, watch, log }: Parts): Reloading {
  let running = loaded;
  let turn: Promise<unknown> = Promise.resolve();
  /** The last reading that has not begun: it is the answer to whoever asks meanwhile. */
  let next: { readonly isForced: boolean; readonly answer: Promise<ReloadAnswer> } | undefined;
  /** `performance.now()`. Absent: the last file was used. */
  let retryAt: number | undefined;
  let retryPause = shortestRetryPause;

  const reload: Reload = (isForced) => {
    if (next && (next.isForced || !isForced)) return next.answer;
    const answer = turn.then(() => readAgain(isForced));
    next = { isForced, answer };
    turn = answer;
    return answer;
  };

  async function readAgain(isForced: boolean): Promise<ReloadAnswer> {
    if (next?.isForced === isForced) next = undefined;
    retryAt = undefined;
    try {
      const source = { path, connectors, environment: process.env, storedIds: storedIds() };
      const read = await loadAgain(source, running.file);
      // Clients of a file that was refused may be in use.
      const isOther = read.isChanged || watch.state.refused !== undefined;
      return used(read, isOther ? await reconfigure(read, isForced) : noChanges);
    } catch (error) {
      return refused(error);
    }
  }

  function used(
    read: Awaited<ReturnType<typeof loadAgain>>,
    { added, reconnected, removed }: FileChanges,
  ): ReloadAnswer {
    const outcome = read.isChanged ? 'changed' : 'unchanged';
    const { waiting } = read;
    const before = { ...watch.state };
    running = read;
    watch.used(outcome, waiting);
    if (read.isChanged) warnPlainText(read.configuration, log);
    if (read.isChanged || before.refused) log.info({ added, reconnected, removed }, 'configuration file in use');
    if (waiting.join() !== before.waiting.join() && waiting.length > 0)
      log.warn({ settings: waiting }, 'settings of the configuration file take effect at a restart');
    return { ...noChanges, outcome, added, reconnected, removed, waiting };
  }

  function refused(error: unknown): ReloadAnswer {
    retryAt = performance.now() + retryPause;
    retryPause = Math.min(2 * retryPause, longestRetryPause);
    if (!(error instanceof ConfigurationError))
      log.error({ cause: describeError(error) }, 'reading the configuration again failed, will retry');
    const mistakes = error instanceof ConfigurationError ? error.mistakes : ['an error of the gateway; the log has it'];
    if (watch.refused(mistakes)) log.error({ mistakes }, 'configuration file not used: the former one goes on');
    return { ...noChanges, outcome: 'refused', waiting: watch.state.waiting, mistakes };
  }

  const file = watchFile(path);
  const loop = startLoop(lookPause, async () => {
    const isOther = await file.look();
    if (isOther) retryPause = shortestRetryPause;
    if (isOther || (retryAt !== undefined && performance.now() > retryAt)) await reload(false);
    return false;
  });
  return {
    reload,
    async stop() {
      await loop.stop();
      await turn;
    },
  };
}

export function warnPlainText(configuration: Partial<Configuration>, log: Logger): void {
  for (const path of allowedPlainText(configuration)) {
    log.warn(
      { setting: formatPath(path) },
      'plain text: data of patients and credentials go to another machine without TLS',
    );
  }
}
