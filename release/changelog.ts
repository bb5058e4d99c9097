const unreleased = '## [Unreleased]\n';

/**
 * The changelog with a heading of a version above what was not released before, in the format of
 * https://keepachangelog.com/en/1.1.0/.
 *
 * @throws if it has no section of what is not released, or nothing in it
 */
export function withHeading(changelog: string, version: string, date: string): string {
  if (!changelog.includes(unreleased)) throw new Error('CHANGELOG.md has no section [Unreleased].');
  if (/## \[Unreleased\]\s*(## |$)/.test(changelog)) throw new Error('CHANGELOG.md has nothing under [Unreleased].');
  return changelog.replace(unreleased, `${unreleased}\n## [${version}] - ${date}\n`);
}
