import { expect, test } from 'vitest';
import { bearerToken, interactionId, scopes } from '../src/token.ts';
import { freeSlots, openPractice } from './practice.ts';
import { settingsFor } from './subject.ts';

const settings = settingsFor('https://provider.example/A20047/STU3/1');
const user = {
  id: '10019',
  familyName: 'Jones',
  givenName: 'Claire',
  title: 'Dr',
  sdsUserId: '111222333444',
  sdsRoleProfileId: '444555666777',
};

test('a token has no signature, and ends with a dot', () => {
  const token = bearerToken(settings, user, 'search:slot-1', new Date('2026-03-29T01:00:00.900Z'));
  const [head = '', claims = '', ...signature] = token.split('.');
  expect(signature).toEqual(['']);
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.$/);
  expect(Buffer.from(head, 'base64url').toString()).toBe('{"alg":"none","typ":"JWT"}');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
    iss: 'https://crossward.example/',
    sub: '10019',
    aud: 'https://provider.example/A20047/STU3/1',
    iat: 1774746000,
    exp: 1774746300,
    reason_for_request: 'directcare',
    requested_scope: 'organization/*.read',
    requesting_device: {
      resourceType: 'Device',
      identifier: [{ system: 'https://crossward.example/Id/device', value: 'gateway-1' }],
      model: 'Crossward',
      version: '1.0',
    },
    requesting_organization: {
      resourceType: 'Organization',
      identifier: [{ system: 'https://fhir.nhs.uk/Id/ods-organization-code', value: 'A11111' }],
      name: 'Test Hub',
    },
    requesting_practitioner: {
      resourceType: 'Practitioner',
      id: '10019',
      identifier: [
        { system: 'https://fhir.nhs.uk/Id/sds-user-id', value: '111222333444' },
        { system: 'https://fhir.nhs.uk/Id/sds-role-profile-id', value: '444555666777' },
        { system: 'https://crossward.example/Id/user', value: '10019' },
      ],
      name: [{ family: 'Jones', given: ['Claire'], prefix: ['Dr'] }],
    },
  });
});

test('a user without a smartcard is UNK', () => {
  const noCard = { ...user, sdsUserId: null, sdsRoleProfileId: null };
  const [, claims = ''] = bearerToken(settings, noCard, 'search:slot-1', new Date()).split('.');
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).requesting_practitioner.identifier).toMatchObject([
    { value: 'UNK' },
    { value: 'UNK' },
    { value: '10019' },
  ]);
});

test('each interaction asks for one scope', () => {
  expect(Object.entries(scopes).map(([name, scope]) => [name, scope])).toContainEqual([
    'cancel:appointment-1',
    'patient/*.write',
  ]);
  expect(interactionId('create:appointment-1')).toBe('urn:nhs:names:services:gpconnect:fhir:rest:create:appointment-1');
});

test('every request has a trace id and a token of its own, and the ASIDs', async () => {
  const opened = await openPractice();
  await freeSlots(opened, 40);
  await opened.connector.findPatient({ type: 'nhs_number', value: '9990000018' });
  const { seen } = opened.practice;
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen.map(({ headers }) => headers['ssp-traceid'])).size).toBe(seen.length);
  for (const { headers } of seen) {
    expect(headers).toMatchObject({ 'ssp-from': '200000000359', 'ssp-to': '918999198993' });
  }
});

test('through a proxy, the URL of the practice follows that of the proxy', async () => {
  const { practice } = await openPractice();
  const proxied = settingsFor(practice.url, { proxy_url: `${new URL(practice.url).origin}/proxy/` });
  const { openConnector } = await import('./subject.ts');
  const connector = await openConnector(proxied);
  expect(await connector.findPatient?.({ type: 'emr_id', value: '1' })).toMatchObject({ familyName: 'Meadow' });
  expect(practice.seen.at(-1)?.fullPath).toBe(`/proxy/${practice.url}/Patient/1`);
});
