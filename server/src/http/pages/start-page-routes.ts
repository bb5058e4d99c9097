import type { FastifyInstance } from 'fastify';
import type { ConsoleSettings } from '../../config/console-settings.ts';
import type { DemoClient } from '../../config/file/demo.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { sandboxFaults } from '../../ehr/connectors.ts';
import type { EhrRegistry } from '../../ehr/registry.ts';
import { curlOf, curlOfEvents, type DemoBooking, demoBookings } from '../demo/booking.ts';
import { startDocuments } from '../demo/documents.ts';
import { isOwnHost } from '../protocol/hosts.ts';
import { addHtmlPages } from './html-pages.ts';
import { type DemoEhr, type DemoStart, startPage } from './start-page.ts';
import { pageAllowances } from './style.ts';

interface Dependencies {
  readonly ehrs: EhrRegistry;
  /** Set in the demo. */
  readonly demoClient?: DemoClient | undefined;
  readonly console?: { readonly settings: ConsoleSettings } | undefined;
}

/** Serves `/`. In the demo, under the name of this machine, the page shows the credentials of the demo's client. */
export async function addStartPage(app: FastifyInstance, deps: Dependencies): Promise<void> {
  const { ehrs, demoClient, console } = deps;
  const hasConsole = console?.settings.demoOperator !== undefined;
  await addHtmlPages(app, { ...pageAllowances, 'form-action': ["'self'"] }, (pages) =>
    pages.get('/', async (request, reply) => {
      const { host } = request.headers;
      const demo =
        demoClient !== undefined && isOwnHost(host)
          ? { ...(await demoStart(demoClient, ehrs, `http://${host}`)), hasConsole }
          : undefined;
      // Browsers then say where the form that opens the console comes from.
      if (demo) reply.header('referrer-policy', 'same-origin');
      return reply.type('text/html; charset=utf-8').send(startPage(app.pageLinks?.(request) ?? [], demo));
    }),
  );
}

async function demoStart(
  client: DemoClient,
  ehrs: EhrRegistry,
  address: string,
): Promise<Omit<DemoStart, 'hasConsole'>> {
  const { client_id: id, client_secret: secret } = client;
  const { direct, withCode, withLostAnswer } = await demoBookings(ehrs);
  const caller = { address, id, secret };
  const commandOf = (booking: DemoBooking | undefined) => booking && curlOf(booking, caller);
  return {
    id,
    secret,
    commands: {
      book: commandOf(direct),
      bookWithCode: commandOf(withCode),
      readEvents: curlOfEvents(caller),
      bookWithLostAnswer: commandOf(withLostAnswer),
    },
    ehrs: [...ehrs.values()].map(demoEhr),
    faults: sandboxFaults,
    documents: startDocuments,
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
