import { resolvePatientPage } from '../config/schema/patient-page.ts';
import { resolvePolicies } from '../config/schema/policies.ts';
import type { CareUnitConnection } from '../ehr/connection.ts';
import type { Asset } from '../html/asset.ts';
import { createPageAssets, type PageAssets } from './assets.ts';

/** Style sheets, logos and icons of the pages for patients. */
export interface Looks {
  /** That of a page which belongs to no care unit. */
  readonly plain: PageAssets;
  /** @throws {ConfigurationError} when the logo cannot be used */
  of(careUnit: Pick<CareUnitConnection, 'patientPage' | 'code'>): Promise<PageAssets>;
  /** A file of any page that this process has shown. */
  file(name: string): Asset | undefined;
}

/** Makes each look once, when it is first asked for. */
export async function createLooks(): Promise<Looks> {
  const made = new Map<string, PageAssets>();
  const files = new Map<string, Asset>();

  const make = async (settings: Parameters<typeof createPageAssets>[0], codeLength: number): Promise<PageAssets> => {
    const assets = await createPageAssets(settings, codeLength);
    for (const asset of [assets.style, assets.icon]) files.set(asset.name, asset);
    return assets;
  };

  return {
    plain: await make(resolvePatientPage(), resolvePolicies().code.length),
    async of({ patientPage, code }) {
      const key = JSON.stringify([patientPage, code.length]);
      const known = made.get(key) ?? (await make(patientPage, code.length));
      made.set(key, known);
      return known;
    },
    file: (name) => files.get(name),
  };
}
