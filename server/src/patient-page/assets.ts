import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PatientPageSettings } from '../config/schema/patient-page.ts';
import { type Asset, createAsset } from '../html/asset.ts';
import { readStyle } from '../html/read-style.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { fileError } from '../startup/read-text.ts';

const pageStyle = readStyle(new URL('./style.css', import.meta.url));
const calendar = readFileSync(new URL('./icon.svg', import.meta.url));
const largestLogo = 256 * 1024;
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The assets of the pages of one care unit. */
export interface PageAssets {
  readonly style: Asset;
  readonly logo: Asset | undefined;
  /** In the tab of the browser: the logo, otherwise a calendar. */
  readonly icon: Asset;
}

type Looks = Pick<PatientPageSettings, 'accent_color' | 'dark_accent_color' | 'logo_file'>;

/**
 * @param codeLength digits of a code, for the width of its field
 * @throws {ConfigurationError} when the logo cannot be read, is too large, or is neither PNG nor SVG
 */
export async function createPageAssets(
  { accent_color, dark_accent_color, logo_file }: Looks,
  codeLength: number,
): Promise<PageAssets> {
  const theme = `:root {\n  --light-accent: ${accent_color};\n  --dark-accent: ${dark_accent_color};\n  --code-length: ${codeLength};\n}\n`;
  const logo = logo_file === undefined ? undefined : await readLogo(logo_file);
  return {
    style: createAsset(Buffer.from(`${theme}\n${pageStyle}`), 'css'),
    logo,
    icon: logo ?? createAsset(calendar, 'svg'),
  };
}

async function readLogo(path: string): Promise<Asset> {
  const content = await readFile(path).catch((error) => {
    throw fileError(path, error);
  });
  if (content.length > largestLogo) throw new ConfigurationError([`${path}: is larger than 256 KiB (logo_file)`]);
  if (content.subarray(0, pngSignature.length).equals(pngSignature)) {
    return createAsset(content, 'png');
  }
  if (/^\s*(<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/i.test(content.toString('utf8'))) {
    return createAsset(content, 'svg');
  }
  throw new ConfigurationError([`${path}: is neither a PNG nor an SVG image (logo_file)`]);
}
