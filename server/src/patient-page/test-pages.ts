import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { withEhr, withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { riverside, sodermalm } from '../../../test/requests/bookings.ts';
import { careUnitOf } from '../../../test/requests/codes.ts';
import { browserOf, withPages } from '../../../test/requests/patient-page.ts';
import { resolvePatientPage } from '../config/schema/patient-page.ts';

export const returnUrl = 'https://booking.example.org/done';

/**
 * Starts a gateway with pages for patients. Its EHRs can fail. `no-hold` cannot hold a time, and messages of `lund` contain
 * the link.
 */
export async function startPages() {
  const ehrs = faultyEhrs();
  const gateway = await startGateway({
    logLevel: 'trace',
    connectors: [
      wrapConnector((connector, emr) => {
        const faulty = ehrs.faulty(connector, emr);
        return emr === 'no-hold' ? withoutHolds(faulty) : faulty;
      }),
    ],
    configure: (demo) => {
      const tolerant = withPages(withTolerantBreakers(demo));
      const extended = withEhr(tolerant, { id: 'no-hold', like: 'sandbox-se', policies: {} });
      const patient_page = resolvePatientPage({ link_in_messages: true });
      return {
        ...extended,
        clients: extended.clients.map((client) => ({ ...client, return_urls: [returnUrl] })),
        emrs: extended.emrs.map((emr) => ({
          ...emr,
          care_units: emr.care_units.map((it) => (it.id === 'lund' ? { ...it, patient_page } : it)),
        })),
      };
    },
  });
  return {
    gateway,
    ehrs,
    browser: browserOf(gateway),
    sweden: careUnitOf(gateway, sodermalm),
    uk: careUnitOf(gateway, riverside),
  };
}
