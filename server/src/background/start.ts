import type { OperationServices } from '../operations/services.ts';
import { startDueJobs } from './due-jobs.ts';
import { type Loop, startLoop } from './loop.ts';
import { type BackgroundDependencies, backgroundWork } from './rounds.ts';

/** Starts the background jobs. */
export function startBackground(services: OperationServices, more: BackgroundDependencies): Loop {
  const { regular, whenDue, look } = backgroundWork(services, more);
  const loops = [
    ...regular.map(({ pauseMilliseconds, round }) => startLoop(pauseMilliseconds, round)),
    startDueJobs({
      pauseMilliseconds: Math.min(...whenDue.map((job) => job.pauseMilliseconds)),
      look,
      jobs: whenDue,
    }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
