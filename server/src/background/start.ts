import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.ts';
import type { OperationServices } from '../operations/services.ts';
import { type Loop, startLoop } from './loop.ts';
import { backgroundWork } from './rounds.ts';

/** Starts the background jobs. */
export function startBackground(services: OperationServices, retention: Configuration['retention'], log: Logger): Loop {
  const loops = backgroundWork(services, retention, log).map(({ pauseMilliseconds, round }) =>
    startLoop(pauseMilliseconds, round),
  );
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
