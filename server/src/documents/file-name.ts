import type { DocumentContentType } from '@crossward/connector-kit';

const extensions: Readonly<Record<DocumentContentType, string>> = {
  'application/pdf': '.pdf',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'text/plain': '.txt',
};

/** Characters that no file name can have on some system, and invisible ones. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029<>:"/\\|?*]+/gu;
/** Names of devices: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
const longestName = 100;

/** A file name that is safe on every system. The title may be anything that the EHR holds. */
export function fileName(title: string | null, contentType: DocumentContentType | undefined): string {
  const words = [...(title ?? '').replaceAll(unsafe, ' ').replaceAll(/\s+/g, ' ')].slice(0, longestName).join('');
  const name = words.replaceAll(/^[.\s]+|[.\s]+$/g, '');
  const safe = name === '' || device.test(name) ? `document ${name}`.trim() : name;
  const extension = contentType ? extensions[contentType] : '.bin';
  return safe.toLowerCase().endsWith(extension) ? safe : `${safe}${extension}`;
}
