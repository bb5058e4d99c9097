import { expect, test } from 'vitest';
import { withHeading } from './changelog.ts';

test('what was not released belongs to the version, and the next changes have a place', () => {
  const before = '# Changelog\n\n## [Unreleased]\n\n- A change.\n\n## [0.1.0] - 2026-01-01\n';
  expect(withHeading(before, '0.2.0', '2026-02-01')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n\n- A change.\n\n## [0.1.0] - 2026-01-01\n',
  );
});

test.each([
  ['a section for it', '# Changelog\n'],
  ['a change', '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- A change.\n'],
  ['any version and change', '# Changelog\n\n## [Unreleased]\n'],
])('a changelog without %s is refused', (_name, changelog) => {
  expect(() => withHeading(changelog, '0.2.0', '2026-02-01')).toThrow('[Unreleased]');
});
