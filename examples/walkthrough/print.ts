import { STATUS_CODES } from 'node:http';
import { styleText } from 'node:util';

const styles = { step: 'bold', message: 'yellow', done: 'green', failed: 'red', sent: 'cyan', quiet: 'gray' } as const;

/** Prints a line, in colour if the terminal shows colours and `NO_COLOR` is not set. */
export function print(kind: keyof typeof styles, text: string): void {
  const space = kind === 'sent' || kind === 'quiet' ? '' : '\n';
  process.stdout.write(`${space}${styleText(styles[kind], text, { stream: process.stdout })}\n`);
}

/** Sends a request, and prints it and its response. Leaves out the credentials and other headers. */
export async function printingFetch(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  print('sent', `→ ${request.method} ${pathname}${decodeURIComponent(search)}`);
  printBody(await request.clone().text());
  const response = await fetch(request);
  print('sent', `← ${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd());
  printBody(await response.clone().text());
  return response;
}

function printBody(json: string): void {
  if (json === '') return;
  for (const line of JSON.stringify(JSON.parse(json), null, 2).split('\n')) print('quiet', `  ${line}`);
}
