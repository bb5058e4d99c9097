import type { FakePractice } from '../../connectors/gp-connect/fake/server.ts';
import { careUnits, settingsFor } from '../../connectors/gp-connect/test/subject.ts';
import type { Configuration, ConfiguredEmr } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import type { ProxiedRequest } from '../ehrs/fault-proxy.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { withQuickRecovery } from '../gateway/recovery.ts';
import { creationBody, freeSlot } from '../requests/bookings.ts';
import type { AppointmentResponse } from '../requests/codes.ts';

export const main = careUnitPath('practice', 'main');

type Connection = NonNullable<Parameters<typeof resolveConnection>[0]>;

/** A practice in the configuration, directly or through a proxy as that of the Spine. */
export function practiceEmr(
  { url }: Pick<FakePractice, 'url'>,
  proxy: { readonly url: string } | undefined,
  connection: Connection = {},
): ConfiguredEmr {
  const policies = resolvePolicies();
  return {
    id: 'practice',
    name: 'Practice',
    connector: 'gp-connect',
    settings: settingsFor(url, proxy && { proxy_url: proxy.url }),
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true, user_header: 'X-User', ...connection }),
    policies,
    care_units: careUnits.map(({ id, settings }) => ({
      id,
      name: id,
      time_zone: 'Europe/London',
      language: 'en' as const,
      policies,
      patient_page: resolvePatientPage(),
      settings,
    })),
  };
}

/** A gateway before one practice. */
export function startPracticeGateway(emr: ConfiguredEmr): Promise<Gateway> {
  const grants = [{ emr: emr.id, care_units: careUnits.map(({ id }) => id) }];
  const configure = (demo: Configuration) =>
    withQuickRecovery(
      { ...demo, emrs: [emr], clients: demo.clients.map((client) => ({ ...client, grants })) },
      { settling_seconds: 2 },
    );
  return startGateway({ configure });
}

/** The request by which a booking is made. */
export function isBooking({ method, path }: Pick<ProxiedRequest, 'method' | 'path'>): boolean {
  return method === 'POST' && path.endsWith('/Appointment');
}

/** Books a free time of Dr One, as often as the returned function is called. */
export async function booking(
  gateway: Gateway,
  key: string,
  user?: object,
  comment = 'Hello',
): Promise<() => Promise<AppointmentResponse>> {
  const slot = await freeSlot(gateway, { careUnit: main, resourceId: '1', healthcareServiceId: 'gp' });
  const body = { ...creationBody(slot), patient_id: 'nhs_number:9990000018', comment };
  return () =>
    gateway.request('POST', `${main}/appointments`, {
      body,
      headers: { 'idempotency-key': key, 'x-user': user && JSON.stringify(user) },
    });
}
