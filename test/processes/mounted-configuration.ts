import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigurationFile } from '../../server/src/config/schema/schema.ts';
import type { ChildSetup } from './child-gateway.ts';
import { writeQuickDemo } from './quick-demo.ts';

/** A configuration file that is replaced as Kubernetes does it with a mounted ConfigMap. */
export interface MountedConfiguration {
  readonly setup: ChildSetup;
  /** Its first version: that of `writeQuickDemo`. */
  readonly first: ConfigurationFile;
  /** Replaces the link to the folder of the version. Text is written as it is. */
  publish(file: ConfigurationFile | string): Promise<void>;
}

/** @param more as for `writeQuickDemo` */
export async function mountConfiguration(folder: string, more: object = {}): Promise<MountedConfiguration> {
  const { client, variables } = await writeQuickDemo(folder, { ...more });
  const first: ConfigurationFile = JSON.parse(await readFile(variables.CROSSWARD_CONFIG ?? '', 'utf8'));
  let version = 0;
  const publish = async (file: ConfigurationFile | string) => {
    const name = `..version-${++version}`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'crossward.yaml'), typeof file === 'string' ? file : JSON.stringify(file));
    await symlink(name, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  await publish(first);
  const path = join(folder, 'crossward.yaml');
  await symlink('..data/crossward.yaml', path);
  return { setup: { client, variables: { ...variables, CROSSWARD_CONFIG: path } }, first, publish };
}
