import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import { onHangUp } from './hang-up.ts';
import { restartPause } from './restart-pause.ts';
import { onStopSignals, type StopSignal } from './stop-signals.ts';
import type { Ready, ReloadMessage } from './supervisor.ts';

/** Milliseconds. A worker that served for longer is replaced without a longer pause. */
const stable = 60_000;
/** Starts that may fail in a row while no worker serves. */
const mostFailedStarts = 5;

/** A place for one worker. */
interface Slot {
  readonly number: number;
  worker?: ChildProcess | undefined;
  /** `performance.now()`. Absent: the worker does not serve yet. */
  readyAt?: number | undefined;
  endsInARow: number;
  timer?: NodeJS.Timeout;
}

/** The number of this process if it is a worker, from the arguments that `runWorkers` gives it. */
export function workerNumber([, , argument = '']: readonly string[]): number | undefined {
  const number = /^--worker=(\d+)$/.exec(argument)?.[1];
  return number === undefined ? undefined : Number(number);
}

/**
 * Starts gateways that listen on one port, and replaces each that ends. The kernel gives each connection to one of them.
 *
 * This process ends with an error if a worker ends during the start, or if later all workers have ended and none can be
 * started.
 */
export function runWorkers(count: number, log: Logger): void {
  const slots: readonly Slot[] = Array.from({ length: count }, (_, number) => ({ number, endsInARow: 0 }));
  let variables = process.env;
  let isStarted = false;
  let failedStarts = 0;
  /** Set when the workers are to stop. */
  let exitCode: number | undefined;

  function start(slot: Slot): void {
    const worker = fork(process.argv[1] ?? '', [`--worker=${slot.number}`], { env: variables });
    slot.worker = worker;
    worker.on('message', (message: Ready | ReloadMessage) => {
      if ('reload' in message) reloadOthers(slot, message);
      else becomeReady(slot, worker, message);
    });
    // It could not be started: `exit` does not follow.
    worker.on('error', () => worker.pid === undefined && replace(slot, { code: 1, signal: null }));
    worker.once('exit', (code, signal) => replace(slot, { code, signal }));
  }

  /** A worker that does not serve yet begins with the file as it is then. */
  function reloadOthers(asked: Slot, message: ReloadMessage): void {
    for (const slot of slots) {
      if (slot !== asked && slot.readyAt !== undefined) slot.worker?.send(message, () => undefined);
    }
  }

  function becomeReady(slot: Slot, worker: ChildProcess, { address, welcome }: Ready): void {
    slot.readyAt = performance.now();
    failedStarts = 0;
    log.info({ worker: slot.number, worker_pid: worker.pid }, 'worker is ready');
    if (isStarted || exitCode !== undefined) return;
    // The others listen on the port that the first one got.
    variables = { ...process.env, PORT: new URL(address).port };
    for (const other of slots) if (!other.worker) start(other);
    if (slots.some(({ readyAt }) => readyAt === undefined)) return;
    isStarted = true;
    log.info({ address, workers: count, database: 'postgresql' }, 'Crossward is listening');
    process.stdout.write(welcome);
  }

  function replace(slot: Slot, how: { readonly code: number | null; readonly signal: string | null }): void {
    const { readyAt } = slot;
    slot.worker = undefined;
    slot.readyAt = undefined;
    if (exitCode !== undefined) {
      if (how.code !== 0) exitCode = 1;
      exitIfEmpty();
      return;
    }
    if (readyAt === undefined && cannotStart()) {
      log.fatal({ worker: slot.number, ...how }, 'workers end before they are ready');
      stop(1);
      return;
    }
    slot.endsInARow = readyAt !== undefined && performance.now() - readyAt > stable ? 1 : slot.endsInARow + 1;
    const pause = restartPause(slot.endsInARow);
    log.error({ worker: slot.number, ...how, pause_ms: pause }, 'worker ended, will be replaced');
    slot.timer = setTimeout(() => start(slot), pause);
  }

  /** Counts a worker that ended before it was ready. */
  function cannotStart(): boolean {
    if (!isStarted) return true;
    const serves = slots.some(({ readyAt }) => readyAt !== undefined);
    failedStarts = serves ? 0 : failedStarts + 1;
    return failedStarts >= mostFailedStarts;
  }

  /** @param signal passed on to workers that serve */
  function stop(code: number, signal?: StopSignal): void {
    exitCode ??= code;
    for (const { worker, readyAt, timer } of slots) {
      clearTimeout(timer);
      if (signal !== undefined && readyAt !== undefined) worker?.kill(signal);
      else if (worker?.connected) worker.disconnect();
    }
    exitIfEmpty();
  }

  function exitIfEmpty(): void {
    if (slots.every(({ worker }) => !worker)) process.exit(exitCode);
  }

  onHangUp(() => {
    for (const { worker, readyAt } of slots) if (readyAt !== undefined) worker?.kill('SIGHUP');
  });
  onStopSignals((signal) => {
    log.info({ signal }, 'stopping the workers after their current requests');
    stop(0, signal);
  });
  // The first worker migrates the database and reports mistakes in the configuration. The others follow when it is ready.
  for (const slot of slots.slice(0, 1)) start(slot);
}
