import type { OperationServices } from '../operations/services.ts';
import { type Loop, startLoop } from './loop.ts';
import { type BackgroundDependencies, backgroundWork } from './rounds.ts';

/** Starts the background jobs. */
export function startBackground(services: OperationServices, more: BackgroundDependencies): Loop {
  const loops = backgroundWork(services, more).map(({ pauseMilliseconds, round }) =>
    startLoop(pauseMilliseconds, round),
  );
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
