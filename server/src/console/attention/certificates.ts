import { certificateFinding } from '../../ehr/certificates.ts';
import { ehrLink } from '../ehr-parts.ts';
import type { SignedIn } from '../page.ts';
import type { Need } from './need.ts';

/** Certificates for EHRs that expire soon, and TLS files that cannot be used. */
export function certificatesInNeed(context: SignedIn): Need[] {
  return [...context.deps.services.ehrs.values()].flatMap((ehr) => {
    const { name: subject, tls } = ehr;
    const mend = ehrLink(context, ehr);
    const fault = tls?.fault();
    const found = certificateFinding(tls, context.deps.now());
    return [
      ...(fault === undefined ? [] : [{ subject, what: `New TLS files are not used: ${fault}`, mend }]),
      ...(found === undefined || found.status === 'ok'
        ? []
        : [{ subject, what: `The client certificate of the gateway ${found.detail}`, mend }]),
    ];
  });
}
