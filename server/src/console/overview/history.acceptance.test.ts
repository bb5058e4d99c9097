import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { at, book, freeSlot, oslo } from '../../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf } from '../../../../test/requests/codes.ts';
import { browserWith, consoleUrl, withConsole } from '../../../../test/requests/console.ts';

const gateway = await startGateway({ configure: withConsole });
afterAll(() => gateway.close());
const { host } = new URL(consoleUrl);
const { browser } = await browserWith(gateway, 'kari.nordmann', 'view');

/** The totals of the plots, as a screen reader says them, by their names. */
async function totals(path = '/console'): Promise<Record<string, string>> {
  const { html } = await browser.open(path);
  return Object.fromEntries(
    [...html.matchAll(/<title id="plot-[^"]+">([^:<]+): ([^<]+)<\/title>/g)].map(([, name = '', total = '']) => [
      name,
      total,
    ]),
  );
}

test('the plots count what callers have done, in both periods, without a delay', async () => {
  const none = { Bookings: '0', Moves: '0', Cancellations: '0', 'Codes sent': '0', 'Codes confirmed': '0' };
  expect(await totals()).toMatchObject(none);

  const { change, cancel } = careUnitOf(gateway, oslo);
  const { id } = await book(gateway);
  expect(await change(id, at(await freeSlot(gateway)))).toMatchObject({ status: 200 });
  expect(await change(id, { comment: 'another comment' })).toMatchObject({ status: 200 });
  expect(await cancel(id)).toMatchObject({ status: 200 });
  await bookByCode(gateway);
  const all = { Bookings: '2', Moves: '1', Cancellations: '1', 'Codes sent': '1', 'Codes confirmed': '1' };
  await expect.poll(() => totals()).toMatchObject(all);
  expect(await totals('/console/history')).toMatchObject(all);
});

test('a screen reader gets the highest and the last column of a plot, and a table of its figures', async () => {
  const { html, text } = await browser.open('/console');
  const [, description] = /<desc id="plot-booked-text">(.*?)<\/desc>/.exec(html) ?? [];
  expect(description).toMatch(/^The last 24 hours\. Most in an hour: \d, \d.*, not over yet: \d\.$/);
  const rows = [...html.matchAll(/<tr role="row"><td role="cell" data-label="Hour">.*?<\/tr>/gs)].map(([row]) => row);
  // Of all gateways, and of three EHRs.
  expect(rows).toHaveLength(24 * 4);
  const bookings = rows.flatMap((row) => /data-label="Bookings"><span>(\d+)/.exec(row)?.[1] ?? []);
  expect(bookings.reduce((sum, count) => sum + Number(count), 0)).toBe(2);
  expect(text.includes('All gateways: figures of each hour, as a table')).toBe(true);
});

test('the state of an EHR appears within a minute, and time before the gateway ran is a gap', async () => {
  const stateOf = async (emr: string) => {
    const { html } = await browser.open('/console/history');
    return new RegExp(`<title id="plot-state-${emr}-name">State: (.*?)</title>`).exec(html)?.[1];
  };
  await expect.poll(() => stateOf('sandbox-no')).toBe('100\u00a0% available');
  const { text, html } = await browser.open('/console/history');
  expect(/Grey: no gateway ran, \d+ days/.exec(text)?.[0]).toBeOneOf(
    [28, 29].map((days) => `Grey: no gateway ran, ${days} days`),
  );
  expect(html.match(/<rect class="gap"/g)?.length).toBeGreaterThanOrEqual(28 * 8);
});

test('a page below the console asks for a session', async () => {
  const { status, headers } = await gateway.request('GET', '/console/history', { client: null, headers: { host } });
  expect([status, headers.location]).toEqual([303, expect.stringContaining('sign-in')]);
});
