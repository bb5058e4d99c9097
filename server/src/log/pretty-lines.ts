import { prettyFactory } from 'pino-pretty';

/**
 * Returns a function that turns a line of the log, which is JSON, into text for people.
 *
 * @param colour whether the terminal shows colours
 */
export function prettyLines(colour: boolean): (line: string) => string {
  const format = prettyFactory({
    colorize: colour,
    ignore: 'pid,hostname',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return (line) => format(withRequest(JSON.parse(line)));
}

/** Puts what a reader looks for first into the message of a request. */
function withRequest(line: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { method, route, status, milliseconds, ...rest } = line;
  if (rest.msg !== 'request' || method === undefined) return line;
  return { ...rest, msg: `${method} ${route} ${status ?? 'aborted'} in ${milliseconds} ms` };
}
