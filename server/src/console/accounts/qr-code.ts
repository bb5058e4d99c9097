import { encodeQR } from 'qr';
import { type Html, html } from '../../html/html.ts';

/** Modules around the code. ISO/IEC 18004 section 5.3.8 asks for four. */
const border = 4;

/** A QR code as an inline picture. */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg class="qr" viewBox="0 0 ${rows.length} ${rows.length}" role="img" aria-label="${label}"><path d="${path}"/></svg>`;
}
