import type { FastifyInstance } from 'fastify';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { DemoClient } from '../../config/demo.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrRegistry } from '../../ehr/registry.ts';
import { consoleUrl } from '../console-host.ts';
import { curlOf, demoBooking } from '../demo/booking.ts';
import { isOwnHost } from '../demo/own-host.ts';
import { addHtmlPages } from './html-pages.ts';
import { pageLinks } from './links.ts';
import { type DemoEhr, type DemoStart, startPage } from './start-page.ts';

interface Dependencies {
  readonly ehrs: EhrRegistry;
  readonly mailbox?: object | undefined;
  /** Set in the demo. */
  readonly demoClient?: DemoClient | undefined;
  readonly console?: { readonly settings: ConsoleSettings } | undefined;
}

/** Serves `/`. In the demo, under the name of this machine, the page shows the credentials of the demo's client. */
export async function addStartPage(app: FastifyInstance, deps: Dependencies): Promise<void> {
  const { ehrs, mailbox, demoClient, console } = deps;
  await addHtmlPages(app, {}, (pages) =>
    pages.get('/', async ({ headers: { host }, host: publicHost }, reply) => {
      const isDemo = demoClient !== undefined && isOwnHost(host);
      const links = pageLinks({
        hasMailbox: mailbox !== undefined && isOwnHost(host),
        hasConsole: console !== undefined && consoleUrl(console.settings, publicHost) !== undefined,
      });
      const page = startPage(
        links,
        isDemo
          ? { ...(await demoStart(demoClient, ehrs, `http://${host}`)), operator: console?.settings.demoOperator }
          : undefined,
      );
      return reply.type('text/html; charset=utf-8').send(page);
    }),
  );
}

async function demoStart(client: DemoClient, ehrs: EhrRegistry, address: string): Promise<Omit<DemoStart, 'operator'>> {
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
