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
import { type Changes, type Configured, NotYet } from './reconfigure.ts';
import { ConfigurationError } from './startup/configuration-error.ts';

/** Milliseconds between two looks at the file. One that has changed is read at the second look that finds it the same. */
const lookPause = 2_000;
/** Milliseconds after which a file is tried again that could not be used yet. Twice as long each time, up to the longest. */
const shortestRetryPause = 10_000;
const longestRetryPause = 300_000;

export interface Reloading {
  readonly reload: Reload;
  stop(): Promise<void>;
}

interface Parts {
  readonly path: string;
  /** What the gateway has started with. */
  readonly loaded: Loaded;
  reconfigure(configured: Configured, isForced: boolean): Promise<Changes>;
  readonly watch: ConfigurationWatch;
  readonly log: Logger;
}

const nothing = { added: [], reconnected: [], removed: [], waiting: [], mistakes: [] } as const;

/** Reads the configuration file again when it is asked to, and when the file has changed. One reading at a time. */
export function startReloading({ path, loaded, reconfigure, watch, log }: Parts): Reloading {
  let running = loaded;
  let turn: Promise<unknown> = Promise.resolve();
  /** `performance.now()`. Absent: the last file was used, or has a mistake. */
  let retryAt: number | undefined;
  let retryPause = shortestRetryPause;

  const reload: Reload = (isForced) => {
    const answer = turn.then(() => readAgain(isForced));
    turn = answer;
    return answer;
  };

  async function readAgain(isForced: boolean): Promise<ReloadAnswer> {
    retryAt = undefined;
    try {
      const next = await loadAgain({ path, connectors, environment: process.env }, running.file);
      const changes = next.isChanged ? await reconfigure(next, isForced) : nothing;
      return used(next, changes);
    } catch (error) {
      return refused(error);
    }
  }

  function used(next: Awaited<ReturnType<typeof loadAgain>>, { added, reconnected, removed }: Changes): ReloadAnswer {
    const outcome = next.isChanged ? 'changed' : 'unchanged';
    const { waiting } = next;
    const before = { ...watch.state };
    running = next;
    watch.used(outcome, waiting);
    if (next.isChanged) warnPlainText(next.configuration, log);
    if (next.isChanged || before.refused) log.info({ added, reconnected, removed }, 'configuration file in use');
    if (waiting.join() !== before.waiting.join() && waiting.length > 0)
      log.warn({ settings: waiting }, 'settings of the configuration file take effect at a restart');
    return { ...nothing, outcome, added, reconnected, removed, waiting };
  }

  function refused(error: unknown): ReloadAnswer {
    if (!(error instanceof ConfigurationError) || error instanceof NotYet) {
      retryAt = performance.now() + retryPause;
      retryPause = Math.min(2 * retryPause, longestRetryPause);
    }
    if (!(error instanceof ConfigurationError))
      log.error({ cause: describeError(error) }, 'reading the configuration again failed, will retry');
    const mistakes = error instanceof ConfigurationError ? error.mistakes : ['an error of the gateway; the log has it'];
    if (watch.refused(mistakes)) log.error({ mistakes }, 'configuration file not used: the former one goes on');
    return { ...nothing, outcome: 'refused', waiting: watch.state.waiting, mistakes };
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
