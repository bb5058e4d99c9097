import type { WriteServices } from '../writes/services.ts';
import { startDueJobs } from './due-jobs.ts';
import { type Loop, startLoop } from './loop.ts';
import { type BackgroundDependencies, backgroundWork } from './rounds.ts';

/** Starts the background jobs. */
export function startBackground(services: WriteServices, more: BackgroundDependencies): Loop {
  const { regular, whenDue, look, idle } = backgroundWork(services, more);
  const usual = Math.min(...whenDue.map((job) => job.pauseMilliseconds));
  const due = startDueJobs({
    pauseMilliseconds: () => (more.activity.isIdle() ? Math.max(usual, idle) : usual),
    look,
    jobs: whenDue,
  });
  more.activity.onWake(due.wake);
  const loops = [...regular.map(({ pauseMilliseconds, round }) => startLoop(pauseMilliseconds, round)), due];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
