/** The invented run's answers to what the DAG asks. */

import type { Answer } from "../mock";

export const dagAnswers: Record<string, Answer> = {};
