import type { Mistake, Path } from '../mistakes/mistake.ts';
import type { PatientPageInFile } from '../schema/patient-page.ts';
import { backgrounds, contrast, minimumContrast } from './contrast.ts';
import { isLoopbackHost } from './loopback.ts';
import type { PartialFile, Partially } from './partial-file.ts';

/** Checks URLs and colours of the page for patients. */
export function patientPageMistakes(file: PartialFile): Mistake[] {
  return [
    ...unusablePublicUrl(file),
    ...patientPages(file).flatMap((page) => [...lowContrast(page), ...linkWithoutUrl(page, file)]),
    ...unusableReturnUrls(file),
  ];
}

function unusablePublicUrl({ http }: PartialFile): Mistake[] {
  const address = http?.public_url;
  if (address === undefined || !URL.canParse(address)) return [];
  const path: Path = ['http', 'public_url'];
  const { protocol, hostname, search, hash } = new URL(address);
  if (search || hash) return [{ path, at: 'value', text: 'must not contain a query or fragment' }];
  if (protocol === 'https:' || isLoopbackHost(hostname)) return [];
  const text = 'must start with https://, because patients enter codes there; http:// is allowed for loopback only';
  return [{ path, at: 'value', text }];
}

interface PatientPage {
  readonly page: Partially<PatientPageInFile>;
  readonly path: Path;
}

function patientPages({ emrs = [] }: PartialFile): PatientPage[] {
  return emrs.flatMap((emr, emrIndex) => [
    ...(emr?.patient_page ? [{ page: emr.patient_page, path: ['emrs', emrIndex, 'patient_page'] }] : []),
    ...(emr?.care_units ?? []).flatMap((careUnit, index) =>
      careUnit?.patient_page
        ? [{ page: careUnit.patient_page, path: ['emrs', emrIndex, 'care_units', index, 'patient_page'] }]
        : [],
    ),
  ]);
}

function lowContrast({ page, path }: PatientPage): Mistake[] {
  return (['accent_color', 'dark_accent_color'] as const).flatMap((key): Mistake[] => {
    const color = page[key];
    if (color === undefined || !/^#[0-9a-f]{6}$/i.test(color)) return [];
    const ratio = contrast(color, backgrounds[key]);
    if (ratio >= minimumContrast) return [];
    const rounded = Math.floor(ratio * 100) / 100;
    const text = `has a contrast of ${rounded}:1 to ${backgrounds[key]}, and needs at least ${minimumContrast}:1 (WCAG 2.2)`;
    return [{ path: [...path, key], at: 'value', text }];
  });
}

function linkWithoutUrl({ page, path }: PatientPage, file: PartialFile): Mistake[] {
  const hasUrl = file.http !== undefined && 'public_url' in file.http;
  if (!page.link_in_messages || hasUrl || ('http' in file && file.http === undefined)) return [];
  return [{ path: [...path, 'link_in_messages'], at: 'value', text: 'requires http.public_url' }];
}

/** The outcome is added to these URLs. */
function unusableReturnUrls({ clients = [] }: PartialFile): Mistake[] {
  return clients.flatMap((client, clientIndex) =>
    (client?.return_urls ?? []).flatMap((address, index): Mistake[] => {
      if (address === undefined || !URL.canParse(address)) return [];
      const path: Path = ['clients', clientIndex, 'return_urls', index];
      const { protocol, hostname, search, hash } = new URL(address);
      if (search || hash) return [{ path, at: 'value', text: 'must not contain a query or fragment' }];
      if (protocol === 'https:' || isLoopbackHost(hostname)) return [];
      return [{ path, at: 'value', text: 'must start with https://; http:// is allowed for loopback addresses only' }];
    }),
  );
}
