/** @module-tag any-database */
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { newCredentials, withClient } from '../../../test/gateway/other-clients.ts';
import { book, riverside, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf, confirmationOf, rowsOf, startCancellation } from '../../../test/requests/codes.ts';
import { publicUrl, withPages } from '../../../test/requests/patient-page.ts';

const other = newCredentials('other');
const gateway = await startGateway({ configure: (demo) => withPages(withClient(demo, other)) });
afterAll(() => gateway.close());

const link = `${publicUrl}/c/`;
const awaited = `status=awaiting_confirmation&limit=500`;
const clients = [
  ['another client that may write', other],
  ['a client that may only read', 'appointments:read'],
] as const;

describe('the link to the page for patients', () => {
  test('is for the client that began the confirmation', async () => {
    const mine = careUnitOf(gateway, sodermalm);
    const held = await book(gateway, { careUnit: sodermalm, patientId: 'p-3' });
    expect(confirmationOf(held).page_url).toContain(link);
    expect(await mine.get(held.id)).toMatchObject({ confirmation: { page_url: expect.stringContaining(link) } });
    const [listed] = (await mine.list(`patient_id=p-3&${awaited}`)).filter(({ id }) => id === held.id);
    expect(listed && confirmationOf(listed).page_url).toContain(link);
  });

  test.each(clients)('is shown in no read of %s', async (_, client) => {
    const held = await book(gateway, { careUnit: sodermalm, patientId: 'p-3' });
    const { view } = await startCancellation(gateway);
    const texts = await Promise.all(
      [
        `${sodermalm}/appointments/${held.id}`,
        `${sodermalm}/appointments?patient_id=p-3&${awaited}`,
        `${riverside}/appointments/${view.id}`,
        `${sodermalm}/fhir-r4/Appointment/${held.id}`,
        `${sodermalm}/fhir-r4/Appointment?patient=p-3&_count=100`,
      ].map(async (path) => {
        const { status, text } = await gateway.request('GET', path, { client });
        expect(status, path).toBe(200);
        return text;
      }),
    );
    for (const text of texts.slice(0, 3)) expect(text).toContain('"page_url":null');
    for (const text of texts) {
      expect(text).toContain(text === texts[2] ? confirmationOf(view).id : confirmationOf(held).id);
      expect(text).not.toContain(link);
    }
  });

  test('is not in the response of another client that cancels, or tries to', async () => {
    const { original, view } = await startCancellation(gateway);
    expect(confirmationOf(view).page_url).toContain(link);
    const theirs = careUnitOf(gateway, riverside, other);
    for (const query of ['', '?dry_run=true']) {
      const { body, status } = await theirs.change(original.id, { status: 'cancelled' }, query);
      expect(status).toBe(200);
      expect(confirmationOf(body)).toMatchObject({ id: confirmationOf(view).id, page_url: null });
    }
    const fhir = await gateway.request('GET', `${riverside}/fhir-r4/Appointment/${original.id}`, { client: other });
    expect(fhir.status).toBe(200);
    expect(fhir.text).not.toContain(link);
  });

  test('is not for the same client without the scope to write', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { clients } = gateway.deps;
    const { authenticate } = clients;
    const spy = vi.spyOn(clients, 'authenticate').mockImplementation((id, secret) => {
      const client = authenticate(id, secret);
      return client && { ...client, scopes: new Set(['appointments:read'] as const) };
    });
    const { confirmation } = await careUnitOf(gateway, sodermalm)
      .get(held.id)
      .finally(() => spy.mockRestore());
    expect(confirmation).toMatchObject({ id: confirmationOf(held).id, page_url: null });
  });

  test('is in no event', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const rows = await rowsOf(gateway, 'SELECT to_jsonb(e) AS data FROM events AS e WHERE subject = $1', [held.id]);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/page_url|\/c\//);
  });
});
