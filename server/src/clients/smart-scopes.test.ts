import { expect, test } from 'vitest';
import { type Scope, scopes } from '../config/schema/schema.ts';
import { mayCall } from '../http/access.ts';
import { grantedScopes, maySeeResource, permissionsOf, smartScopes } from './smart-scopes.ts';

const client = (...of: Scope[]) => ({ scopes: new Set(of) });
const every = { scopes: new Set(scopes) };

test.each([
  ['system/Appointment.rs', ['appointments:read'], 'system/Appointment.rs'],
  ['system/Appointment.crus', ['appointments:read'], 'system/Appointment.rs'],
  ['system/Appointment.cruds', ['appointments:read', 'appointments:write'], 'system/Appointment.crus'],
  ['system/Appointment.c system/Appointment.u', ['appointments:write'], 'system/Appointment.cu'],
  ['system/Appointment.read', ['appointments:read'], 'system/Appointment.rs'],
  ['system/Appointment.write', ['appointments:write'], 'system/Appointment.cu'],
  ['system/Slot.rs', ['resources:read'], 'system/Slot.rs'],
  ['system/Slot.rs system/HealthcareService.rs', ['appointments:read'], 'system/Slot.rs system/HealthcareService.rs'],
  ['system/Slot.rs system/Appointment.rs', ['appointments:read'], 'system/Slot.rs system/Appointment.rs'],
  ['system/Slot.rs appointments:read', ['appointments:read'], 'system/Slot.rs appointments:read'],
  ['system/*.rs', ['patients:read', 'documents:read'], 'system/Patient.rs system/DocumentReference.rs system/Binary.r'],
  ['system/*.*', ['webhooks:manage'], 'system/Subscription.cruds'],
  ['appointments:read system/Patient.rs', ['appointments:read'], 'appointments:read'],
  ['system/Patient.rs patients:read', ['appointments:read'], ''],
  ['system/Appointment.sr system/Appointment.x system/Appointment. system/Observation.rs', [...scopes], ''],
  ['patient/Appointment.rs user/Appointment.rs launch openid system/Appointment.rs?status=booked', [...scopes], ''],
  ['', [...scopes], ''],
] as const)('of "%s" a client with %j gets "%s"', (asked, has, granted) => {
  expect(grantedScopes(asked, client(...has)).join(' ')).toBe(granted);
});

test('a client that asks for nothing in particular gets all its own scopes', () => {
  expect(grantedScopes(undefined, client('notes:read', 'notes:write'))).toEqual(['notes:read', 'notes:write']);
});

test.each([
  [['system/Appointment.rs'], [...scopes], ['appointments:read of Appointment']],
  [['system/Appointment.c'], [...scopes], []],
  [['system/Appointment.cu'], [...scopes], ['appointments:write of Appointment']],
  [['system/Slot.rs'], [...scopes], ['resources:read of Slot', 'appointments:read of Slot']],
  [['system/Slot.rs'], ['appointments:read'], ['appointments:read of Slot']],
  [['system/Schedule.rs'], [...scopes], ['resources:read of Schedule']],
  [['system/Binary.r'], ['notes:read', 'documents:read'], ['documents:read of Binary']],
  [['appointments:read', 'system/Patient.rs'], ['appointments:read'], ['appointments:read']],
] as const)('%j of a client with %j gives %j', (granted, has, given) => {
  const { scopes: own, ofTypes = [] } = permissionsOf(granted, client(...has));
  expect([...own, ...ofTypes]).toEqual(given);
});

const types = [...new Set(smartScopes.map(({ resource }) => resource))];

test.each(types)('a system scope for %s shows nothing of another type', (type) => {
  const letters = smartScopes.filter(({ resource }) => resource === type).flatMap((row) => [...row.letters]);
  const word = `system/${type}.${[...'cruds'].filter((it) => letters.includes(it)).join('')}`;
  const permissions = permissionsOf([word], every);
  expect(permissions.scopes.size).toBe(0);
  expect(types.filter((it) => maySeeResource(permissions, it))).toEqual([type]);
  const read = types.filter((it) =>
    mayCall(permissions, { operationId: `fhir_read_${it.toLowerCase()}`, scopes: [...scopes] }),
  );
  expect(read).toEqual(['DocumentReference', 'Binary'].includes(type) ? [] : [type]);
  // What no type is declared for needs a scope of the gateway.
  expect(mayCall(permissions, { operationId: 'list_accesses', scopes: ['accesses:read'] })).toBe(false);
  expect(mayCall(permissions, { operationId: 'list_accesses', scopes: [...scopes] })).toBe(false);
});

test('no scope gives more than the client has, or than was asked for', () => {
  for (const has of scopes) {
    const granted = grantedScopes('system/*.cruds', client(has));
    const { scopes: own, ofTypes = [] } = permissionsOf(granted, client(has));
    expect([...own, ...ofTypes].filter((scope) => !scope.startsWith(has))).toEqual([]);
    for (const { resource, letters } of smartScopes) {
      const asked = `system/${resource}.${letters}`;
      const outside = grantedScopes(asked, every).filter((scope) => !scope.startsWith(`system/${resource}.`));
      expect(outside).toEqual([]);
    }
  }
});
