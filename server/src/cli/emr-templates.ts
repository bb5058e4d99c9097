import { Command } from 'commander';
import { readTemplates } from '../config/templates/templates.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

export function emrTemplatesCommand(output: Output): Command {
  return new Command('templates')
    .description(
      'List the templates for EHRs of vendors, with what each was tried with. `emr add --template` prints one.',
    )
    .action(async () => {
      for (const { name, title, tried } of await readTemplates()) output.out(`${name}  ${title}\n  ${tried}\n`);
    });
}

/** Prints a template as the configuration file has it. */
export async function printTemplate(output: Output, name: string): Promise<void> {
  const templates = await readTemplates();
  const template = templates.find((it) => it.name === name);
  if (!template) {
    const names = templates.map((it) => it.name).join(', ');
    throw new UsageError(`There is no template ${name}. The templates are ${names}.`);
  }
  output.out(template.text);
}
