import { type Html, html } from '../html/html.ts';
import { qrCode } from './qr-code.ts';

/** What an authenticator app scans, or its user enters. */
export function enrolment(uri: string): Html {
  return html`${qrCode(uri, 'QR code of the one-time codes, the same as the URI below')}
<pre tabindex="0" role="region" aria-label="URI of the one-time codes">${uri}</pre>`;
}
