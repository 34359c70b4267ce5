import { startBonusApi } from '../../tools/simulator/bonus-api/bonus-api.ts';
import { AGGREGATOR } from '../support/operators.ts';

/**
 * The service's bonus API in its own process. Argument: the secret. Prints its port, and a template that can be
 * issued.
 */
const [, , secret = ''] = process.argv;
const api = await startBonusApi({ partners: [{ cid: AGGREGATOR, secrets: [secret] }] });
const { id } = api.createTemplate(AGGREGATOR);
console.log(JSON.stringify({ port: Number(new URL(api.url).port), template: id }));
