export { plain } from '../lib/plain-text.ts';
