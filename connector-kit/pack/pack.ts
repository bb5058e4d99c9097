// Packs the connector kit: npm run kit:pack [folder]
import { packKit } from './pack-kit.ts';

// npm runs scripts in the root of the repository.
const [folder = '.'] = process.argv.slice(2);
process.stdout.write(`${await packKit(folder)}\n`);
