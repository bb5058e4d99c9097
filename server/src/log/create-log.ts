import { destination, type LevelWithSilent, type Logger, pino } from 'pino';

/** Milliseconds that a line waits for others at most. */
const longestWait = 100;
/** Characters that wait at most. */
const longestBatch = 2048;
/** Workers share a pipe, in which only writes of up to 4096 bytes stay whole: POSIX, `write`, PIPE_BUF. */
const longestWrite = 4096;

/** The log on standard output. Several lines are written at once, because a write costs more time than a line. */
export function createLog(level: LevelWithSilent): Logger {
  const stream = destination({
    dest: 1,
    sync: true,
    minLength: longestBatch,
    maxWrite: longestWrite,
    periodicFlush: longestWait,
  });
  process.on('exit', () => stream.flushSync());
  return pino({ level }, stream);
}
