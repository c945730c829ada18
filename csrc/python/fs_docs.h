/* The docstrings. Their text is in src/fixedstep/reference.py and nowhere else: csrc/build.py reads it
 * from there and defines these arrays in the source that cffi compiles, each headed by the signature
 * line that inspect.signature understands.
 */
#ifndef FS_DOCS_H
#define FS_DOCS_H

extern const char fs_doc_FrameLoop[];
extern const char fs_doc_FrameLoop_begin_frame[];
extern const char fs_doc_FrameLoop_begin_frames[];
extern const char fs_doc_FrameLoop_digest_frames[];
extern const char fs_doc_FrameLoop_resync[];
extern const char fs_doc_FrameLoop_tick[];
extern const char fs_doc_FrameLoop_remainder[];
extern const char fs_doc_FrameLoop_simulated[];
extern const char fs_doc_FrameLoop_timestep[];
extern const char fs_doc_FrameLoop_budget[];
extern const char fs_doc_FrameLoop_last[];

extern const char fs_doc_FramePlan[];
extern const char fs_doc_FramePlan_first_tick[];
extern const char fs_doc_FramePlan_step_count[];
extern const char fs_doc_FramePlan_dropped[];
extern const char fs_doc_FramePlan_remainder[];
extern const char fs_doc_FramePlan_timestep[];
extern const char fs_doc_FramePlan_ticks[];
extern const char fs_doc_FramePlan_steps[];
extern const char fs_doc_FramePlan_alpha[];

extern const char fs_doc_Steps[];

extern const char fs_doc_StateHash[];
extern const char fs_doc_StateHash_absorb[];
extern const char fs_doc_StateHash_absorb_bytes[];
extern const char fs_doc_StateHash_absorb_u64[];
extern const char fs_doc_StateHash_absorb_u32[];
extern const char fs_doc_StateHash_absorb_i64[];
extern const char fs_doc_StateHash_absorb_f32_bits[];
extern const char fs_doc_StateHash_absorb_f64_bits[];
extern const char fs_doc_StateHash_absorb_plan[];
extern const char fs_doc_StateHash_finish[];

extern const char fs_doc_FrameStats[];
extern const char fs_doc_FrameStats_absorb[];
extern const char fs_doc_FrameStats_frames[];
extern const char fs_doc_FrameStats_ticks[];
extern const char fs_doc_FrameStats_steps_dropped[];
extern const char fs_doc_FrameStats_schedule_hash[];
extern const char fs_doc_FrameStats_json[];

#endif
