import type { WriteServices } from '../writes/write-kind.ts';
import { startDueJobs } from './due-jobs.ts';
import { type Loop, startLoop } from './loop.ts';
import { type BackgroundDependencies, backgroundWork } from './rounds.ts';

interface Background extends Loop {
  /** Starts the jobs of EHRs that have been added, and stops those of removed ones. */
  followEhrs(): void;
}

/** Starts the background jobs. */
export function startBackground(services: WriteServices, more: BackgroundDependencies): Background {
  const { regular, ofEhr, whenDue, look, idle } = backgroundWork(services, more);
  const usual = Math.min(...whenDue().map((job) => job.pauseMilliseconds));
  const due = startDueJobs({
    pauseMilliseconds: () => (more.activity.isIdle() ? Math.max(usual, idle) : usual),
    look,
    jobs: whenDue,
  });
  more.activity.onWake(due.wake);
  const loops = [...regular.map(({ pauseMilliseconds, round }) => startLoop(pauseMilliseconds, round)), due];
  const loopsOfEhrs = new Map<string, readonly Loop[]>();
  const stopping = new Set<Promise<unknown>>();

  function followEhrs(): void {
    for (const [emr, those] of loopsOfEhrs) {
      if (services.ehrs.has(emr)) continue;
      loopsOfEhrs.delete(emr);
      const stopped = Promise.all(those.map((loop) => loop.stop())).finally(() => stopping.delete(stopped));
      stopping.add(stopped);
    }
    for (const emr of services.ehrs.keys()) {
      if (loopsOfEhrs.has(emr)) continue;
      loopsOfEhrs.set(
        emr,
        ofEhr(emr).map(({ pauseMilliseconds, round }) => startLoop(pauseMilliseconds, round)),
      );
    }
  }

  followEhrs();
  return {
    followEhrs,
    async stop() {
      const all = [...loops, ...[...loopsOfEhrs.values()].flat()];
      await Promise.all([...all.map((loop) => loop.stop()), ...stopping]);
    },
  };
}
