import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { qrCode } from './qr-code.ts';

const pixels = 4;

test('a phone reads the text', () => {
  const uri =
    'otpauth://totp/Crossward:kari.nordmann?issuer=Crossward&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&digits=6';
  const { text } = qrCode(uri, 'QR code');
  const modules = Number(/viewBox="0 0 (\d+)/.exec(text)?.[1]);
  const width = modules * pixels;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of text.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < pixels; row++) {
      const start = ((Number(y) * pixels + row) * width + Number(x) * pixels) * 4;
      for (let index = 0; index < pixels * 4; index++) if (index % 4 !== 3) data[start + index] = 0;
    }
  }
  expect(decodeQR({ width, height: width, data })).toBe(uri);
});
