import type { Loop, LoopPause } from './loop.ts';

/** A job that runs while a look says that it is due. */
export interface DueJob<Due> {
  /** Unique. A job keeps its rest and its failure while it is in the list. */
  readonly id: string;
  readonly isDue: (due: Due) => boolean;
  /** Between the end of a round and the next one, unless there is more to do. */
  readonly pauseMilliseconds: number;
  /** Returns whether there is more to do. After a failure, which is logged, the job is due. */
  readonly round: () => Promise<boolean>;
  readonly failed: (error: unknown) => void;
}

/** Looks for what is due. */
export interface DueLoop extends Loop {
  /** Looks soon, and not only after the pause. */
  wake(): void;
}

interface Looking<Due> {
  /** Between two looks. */
  readonly pauseMilliseconds: LoopPause;
  readonly look: () => Promise<Due>;
  /** Those that there are now. */
  readonly jobs: () => readonly DueJob<Due>[];
}

interface State {
  isRunning: boolean;
  hasFailed: boolean;
  restsUntil: number;
}

/** Milliseconds between the end of a round and the next look. What ends at the same time shares it. */
const soon = 25;

/**
 * Looks regularly for what is due, and runs the jobs that it concerns, each beside the others. After a round it looks again
 * soon, because what one job does is often work for another.
 *
 * If the look fails, all jobs are due: each then tells what it cannot do.
 */
export function startDueJobs<Due>({ pauseMilliseconds, look, jobs }: Looking<Due>): DueLoop {
  const running = new Set<Promise<void>>();
  let states: ReadonlyMap<string, State> = new Map();
  const usual = () => (typeof pauseMilliseconds === 'number' ? pauseMilliseconds : pauseMilliseconds());
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isLooking = false;
  let isStopped = false;

  /** Looks in so many milliseconds, or as planned if that is sooner. */
  function plan(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (isStopped || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      if (!isLooking) track(lookAndStart());
    }, milliseconds);
    timer.unref();
  }

  async function lookAndStart(): Promise<void> {
    isLooking = true;
    const due = await look().catch(() => undefined);
    isLooking = false;
    if (isStopped) return;
    const now = performance.now();
    let rest = usual();
    const all = jobs().map((job) => ({ job, state: states.get(job.id) ?? newState() }));
    states = new Map(all.map(({ job, state }) => [job.id, state]));
    for (const { job, state } of all) {
      if (state.isRunning || (due !== undefined && !state.hasFailed && !job.isDue(due))) continue;
      if (state.restsUntil > now) rest = Math.min(rest, state.restsUntil - now);
      else track(run(job, state));
    }
    plan(rest);
  }

  async function run(job: DueJob<Due>, state: State): Promise<void> {
    state.isRunning = true;
    try {
      while ((await job.round()) && !isStopped);
      state.hasFailed = false;
    } catch (error) {
      state.hasFailed = true;
      job.failed(error);
    }
    state.isRunning = false;
    state.restsUntil = performance.now() + job.pauseMilliseconds;
    plan(soon);
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  plan(usual());
  return {
    wake: () => plan(soon),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

function newState(): State {
  return { isRunning: false, hasFailed: false, restsUntil: 0 };
}
