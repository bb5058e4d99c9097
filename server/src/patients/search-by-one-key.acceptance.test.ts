/** @module-tag any-database */
import { type Connector, ConnectorError, type PatientSearchKey } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';

/** Can be searched for patients by this only. */
function searchedBy(connector: Connector, key: PatientSearchKey): Connector {
  return {
    ...connector,
    capabilities: { ...connector.capabilities, patientSearchBy: [key] },
    async searchPatients(search) {
      if ('phone' in search !== (key === 'phone')) throw new ConnectorError('rejected', 'The EHR knows no such search');
      return (await connector.searchPatients?.(search)) ?? [];
    },
  };
}

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'by-name') return searchedBy(connector, 'name');
      return emr === 'by-phone' ? searchedBy(connector, 'phone') : connector;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'by-name', like: 'sandbox-no', policies: {} },
      { id: 'by-phone', like: 'sandbox-no', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

const byName = { family_name: 'Strandsand', birth_date: '1974-01-30' };
const byPhone = { phone: '+4700000003' };
const search = (emr: string, body: object) =>
  gateway.request<{ patients: { id: string }[] }>('POST', `${careUnitPath(emr, 'oslo-sentrum')}/patients/search`, {
    body,
  });

test.each([
  ['by-name', byName, byPhone, '`family_name` and `birth_date`'],
  ['by-phone', byPhone, byName, '`phone`'],
])(
  'an EHR that is searched %s alone refuses the other search, and says which one it takes',
  async (emr, taken, other, text) => {
    const found = await search(emr, taken);
    expect(found).toMatchObject({ status: 200, body: { patients: [{ id: 'emr_id:p-3' }] } });
    const detail = `This EHR can be searched for patients by ${text} only.`;
    expect(await search(emr, other)).toMatchObject({ status: 501, body: { reason: 'operation_unsupported', detail } });
    const { body } = await gateway.request<{ capabilities: { operations: string[] } }>('GET', `/api/emrs/${emr}`);
    expect(body.capabilities.operations).toContain('search_patients');
  },
);
