/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, oslo, pagesOf, sodermalm } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

interface Resource {
  readonly id: string;
  readonly kind: string;
  readonly identifiers: readonly string[];
  readonly healthcare_service_ids: readonly string[];
}

function get(careUnit: string, resourceId: string, headers: Record<string, string | readonly string[]> = {}) {
  return gateway.request<Resource>('GET', `${careUnit}/resources/${encodeURIComponent(resourceId)}`, { headers });
}

describe('list_resources', { tags: 'every-ehr' }, () => {
  test.each([
    ['sandbox-no', 'oslo-sentrum', ['r-1', 'r-2', 'r-3', 'r-4'], roomId('r-5')],
    ['sandbox-no', 'bergen-nord', ['r-6', 'r-7', 'r-8', 'r-9'], roomId('r-10')],
    ['sandbox-se', 'sodermalm', ['r-1', 'r-2', 'r-3', 'r-4'], roomId('r-5')],
    ['sandbox-se', 'lund', ['r-6', 'r-7', 'r-8', 'r-9'], roomId('r-10')],
    ['sandbox-uk', 'riverside', ['r-1', 'r-2', 'r-3', 'r-4'], roomId('r-5')],
    ['sandbox-uk', 'hillview', ['r-6', 'r-7', 'r-8', 'r-9'], roomId('r-10')],
  ])('returns four practitioners and a room in %s, %s', async (emr, careUnit, practitioners, room) => {
    const path = `/api/emrs/${emr}/care-units/${careUnit}/resources`;
    const { status, body } = await gateway.request<{ resources: Resource[] }>('GET', path);
    expect(status).toBe(200);
    expect(body.resources.map(({ id }) => id)).toEqual([...practitioners, room].sort().map((id) => `emr_id:${id}`));
    for (const { id, kind, healthcare_service_ids } of body.resources) {
      expect(kind).toBe(id === `emr_id:${room}` ? 'room' : 'practitioner');
      expect(healthcare_service_ids).toEqual(
        id === `emr_id:${room}` ? ['vaccination'] : ['consultation', 'vaccination'],
      );
    }
  });

  test('is paged', async () => {
    const { body } = await gateway.request<{ resources: Resource[] }>('GET', `${bergen}/resources`);
    const pages = await pagesOf<Resource>(gateway, `${bergen}/resources?limit=2`, 'resources');
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(body.resources);
  });
});

describe('get_resource', () => {
  test.each([
    'r-1',
    'emr_id:r-1',
    'hsa_id:SE0000000000-1001',
    'hsa_id:se0000000000-1001',
    'se_personal_number:196408233234',
    'se_personal_number:640823-3234',
  ])('finds the first resource of Södermalm by %s', async (text) => {
    const { status, body } = await get(sodermalm, text);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'emr_id:r-1',
      identifiers: ['emr_id:r-1', 'hsa_id:SE0000000000-1001', 'se_personal_number:196408233234'],
      kind: 'practitioner',
      name: expect.stringMatching(/\S/),
      healthcare_service_ids: ['consultation', 'vaccination'],
    });
  });

  test('returns the same as list_resources', { tags: 'every-ehr' }, async () => {
    const { body } = await gateway.request<{ resources: Resource[] }>('GET', `${oslo}/resources`);
    for (const resource of body.resources) expect((await get(oslo, resource.id)).body).toEqual(resource);
  });

  test('does not find a resource of another care unit', { tags: 'every-ehr' }, async () => {
    expect(await get(oslo, 'r-6')).toMatchObject({ status: 404, body: { reason: 'resource_not_found' } });
    expect(await get(bergen, 'r-6')).toMatchObject({ status: 200 });
    const lund = sodermalm.replace('sodermalm', 'lund');
    expect(await get(lund, 'hsa_id:SE0000000000-1001')).toMatchObject({ status: 404 });
  });

  identifierCases({
    kind: 'resource',
    place: 'path',
    parameter: 'resource_id',
    send: (text, headers) => get(oslo, text, headers),
    isFound: ({ status }) => status === 200,
  });
});
