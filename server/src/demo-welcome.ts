import { join } from 'node:path';
import type { EhrRegistry } from './ehr/registry.ts';
import { curlOf, demoBookings } from './http/demo/booking.ts';
import { pageLinks } from './http/pages/links.ts';

interface Welcome {
  /** `http://host:port` */
  readonly address: string;
  readonly ehrs: EhrRegistry;
  /** The credentials are only in files there, since printed text may end up in a log. */
  readonly dataDir: string;
}

/** A welcome text with links, and a request that books a free time, ready to paste. */
export async function demoWelcome({ address, ehrs, dataDir }: Welcome): Promise<string> {
  const clientFile = join(dataDir, 'demo-client.json');
  const { direct } = await demoBookings(ehrs);
  const credential = (name: string) => `$(node -p 'require("${clientFile}").${name}')`;
  const caller = { address, id: credential('client_id'), secret: credential('client_secret') };
  const links = [
    ['Start page', `${address}/`],
    ...pageLinks({ hasMailbox: true, hasConsole: true }).map(({ title, path }) => [title, address + path]),
    ['Credentials', clientFile],
    ['Console sign-in', join(dataDir, 'demo-operator.json')],
  ];
  return `
Crossward is running with three sandbox EHRs. All people in them are synthetic.

${links.map(([title = '', target]) => `  ${title.padEnd(18)}${target}\n`).join('')}
${direct ? `Book an appointment:\n\n${curlOf(direct, caller)}\n\n` : ''}`;
}
