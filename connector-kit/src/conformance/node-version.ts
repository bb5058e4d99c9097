/** As in the package's `engines`. */
const oldest = 22;

/**
 * Says once what would otherwise be an error of the connector in each check.
 *
 * @throws Error if this Node.js is too old for the kit
 */
export function assertNodeVersion(version = process.versions.node): void {
  if (Number.parseInt(version, 10) >= oldest) return;
  throw new Error(`The conformance kit needs Node.js ${oldest} or newer, and this is ${version}`);
}
