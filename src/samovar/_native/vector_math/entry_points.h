/* The functions that images call. `SV_PREFIX` begins their names, `SV_FUNCTIONS` is their table. */
#define SV_ROW(name_) {SV_PREFIX #name_, (sv_vector_function)(name_##_of_vector)}

static vs expf_of_vector(vs x)
{
    return s_exp(x);
}

static vs logf_of_vector(vs x)
{
    return s_log(x);
}

static vs sinf_of_vector(vs x)
{
    return s_sin(x);
}

static vs cosf_of_vector(vs x)
{
    return s_cos(x);
}

static vs tanhf_of_vector(vs x)
{
    return s_tanh(x);
}

static vs powf_of_vector(vs x, vs y)
{
    return s_pow(x, y);
}

static vd exp_of_vector(vd x)
{
    return d_exp(x);
}

static vd log_of_vector(vd x)
{
    return d_log(x);
}

static vd sin_of_vector(vd x)
{
    return d_sin(x);
}

static vd cos_of_vector(vd x)
{
    return d_cos(x);
}

static vd tanh_of_vector(vd x)
{
    return d_tanh(x);
}

static vd pow_of_vector(vd x, vd y)
{
    return d_pow(x, y);
}

const sv_vector_row SV_FUNCTIONS[] = {
    SV_ROW(expf),
    SV_ROW(logf),
    SV_ROW(sinf),
    SV_ROW(cosf),
    SV_ROW(tanhf),
    SV_ROW(powf),
    SV_ROW(exp),
    SV_ROW(log),
    SV_ROW(sin),
    SV_ROW(cos),
    SV_ROW(tanh),
    SV_ROW(pow),
    {NULL, NULL},
};
