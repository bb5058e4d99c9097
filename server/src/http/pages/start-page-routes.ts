import type { FastifyInstance } from 'fastify';
import type { DemoClient } from '../../config/demo.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrRegistry } from '../../ehr/registry.ts';
import { curlOf, demoBooking } from '../demo/booking.ts';
import { isOwnHost } from '../demo/own-host.ts';
import { addHtmlPages } from './html-pages.ts';
import { pageLinks } from './links.ts';
import { type DemoEhr, type DemoStart, startPage } from './start-page.ts';

interface Dependencies {
  readonly ehrs: EhrRegistry;
  readonly mailbox?: object | undefined;
  readonly console?: object | undefined;
  /** Set in the demo. */
  readonly demoClient?: DemoClient | undefined;
}

/** Serves `/`. In the demo, under the name of this machine, the page shows the credentials of the demo's client. */
export async function addStartPage(app: FastifyInstance, deps: Dependencies): Promise<void> {
  const { ehrs, mailbox, console, demoClient } = deps;
  await addHtmlPages(app, {}, (pages) =>
    pages.get('/', async ({ headers: { host } }, reply) => {
      const isOwn = isOwnHost(host);
      const links = pageLinks({
        hasMailbox: isOwn && mailbox !== undefined,
        hasConsole: isOwn && console !== undefined,
      });
      const page = startPage(
        links,
        isOwn && demoClient ? await demoStart(demoClient, ehrs, `http://${host}`) : undefined,
      );
      return reply.type('text/html; charset=utf-8').send(page);
    }),
  );
}

async function demoStart(client: DemoClient, ehrs: EhrRegistry, address: string): Promise<DemoStart> {
  const { client_id: id, client_secret: secret } = client;
  const booking = await demoBooking(ehrs);
  return {
    id,
    secret,
    command: booking && curlOf(booking, address, { id, secret }),
    ehrs: [...ehrs.values()].map(demoEhr),
  };
}

function demoEhr({ id, careUnits }: EhrConnection): DemoEhr {
  const all = [...careUnits.values()];
  const codeFor = [
    ...(all.some((it) => it.bookingConfirmation === 'code') ? (['booking'] as const) : []),
    ...(all.some((it) => it.cancellationConfirmation === 'code') ? (['cancelling'] as const) : []),
  ];
  return { id, careUnits: all.map((it) => it.id), codeFor };
}
