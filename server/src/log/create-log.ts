import { destination, type LevelWithSilent, type Logger, pino } from 'pino';

/** Milliseconds that a line waits for others at most. */
const longestWait = 100;
/** Characters that wait at most. */
const longestBatch = 2048;
/** Workers share a pipe, in which only writes of up to 4096 bytes stay whole: POSIX, `write`, PIPE_BUF. */
const longestWrite = 4096;

export type LogFormat = 'json' | 'pretty';

/**
 * The log on standard output. Several lines are written at once, because a write costs more time than a line.
 *
 * @param format `json`: for programs. `pretty`: for people
 */
export async function createLog(level: LevelWithSilent, format: LogFormat = 'json'): Promise<Logger> {
  const stream = destination({
    dest: 1,
    sync: true,
    minLength: longestBatch,
    maxWrite: longestWrite,
  });
  let isFlushPlanned = false;
  /** A timer that repeats would wake an idle process. */
  const write = (text: string) => {
    stream.write(text);
    if (isFlushPlanned) return;
    isFlushPlanned = true;
    setTimeout(() => {
      isFlushPlanned = false;
      stream.flush();
    }, longestWait).unref();
  };
  process.on('exit', () => stream.flushSync());
  if (format === 'json') return pino({ level }, { write });
  // Loaded only if it is used.
  const { prettyLines } = await import('./pretty-lines.ts');
  const pretty = prettyLines(process.stdout.isTTY && process.stdout.hasColors());
  return pino({ level }, { write: (line) => write(isLine(line) ? pretty(line) : line) });
}

/** Whether it is a line of the log. `print` writes other texts. */
function isLine(text: string): boolean {
  return text.startsWith('{"level":');
}
